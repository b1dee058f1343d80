import { useState } from 'preact/hooks'
import { numberColumn, stateColumn, textColumn } from '../../components/columns.tsx'
import { Dialog, Form } from '../../components/dialog.tsx'
import { TextArea, TextField } from '../../components/field.tsx'
import { Listing } from '../../components/listing.tsx'
import { dateTime } from '../../page/format.ts'
import { linkTo } from '../../page/route.ts'
import { ask, path } from '../../wire/client.ts'
import type { ServerTool, ToolServer } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData, useList } from '../../wire/use-data.ts'

/** What a decision about a tool means for a chat. */
const meanings: Readonly<Record<string, string>> = {
  always: 'allowed',
  ask: 'asked about',
  never: 'denied',
  no: 'not offered',
  changed: 'changed since it was allowed',
}

/** What may be decided about a tool of a server with an address. */
const choices = [
  ['check', 'always', 'Allow'],
  ['users', 'ask', 'Ask the user about'],
  ['lock', 'never', 'Deny'],
] as const

/** The MCP servers whose tools chats may call: those with an address are added and changed here, programs in a terminal. */
export function ToolServers() {
  const data = useList<ToolServer>('/api/mcp/servers', 'servers')
  const [shown, setShown] = useState<string>()
  const [edited, setEdited] = useState<Partial<ToolServer>>()
  const server = data.value?.find(({ name }) => name === shown)
  return (
    <>
      <Listing<ToolServer>
        title="Tool servers"
        data={data}
        keyOf={({ name }) => name}
        main={{ icon: 'add', words: 'Add a server', work: () => setEdited({}) }}
        empty={['No tool server', 'Add one by its address; one that is a program is added in a terminal.']}
        columns={[
          textColumn('Server', ({ name }) => name),
          textColumn('Program or host', ({ place }) => place),
          numberColumn('Decisions', ({ decisions }) => decisions),
          stateColumn('State', stateOf, { connected: 'good', failed: 'bad' }),
          {
            name: 'Last failure',
            of: ({ failure }) => failure && `${failure.message} (${dateTime(failure.at)})`,
            value: ({ failure }) => failure?.message,
          },
        ]}
        actions={[
          { icon: 'check', label: ({ name }) => `Show the tools of ${name}`, work: ({ name }) => setShown(name) },
          { icon: 'edit', label: ({ name }) => `Edit ${name}`, isFor: isAddress, work: setEdited },
          {
            icon: 'trash',
            label: ({ name }) => `Remove ${name}`,
            work: ({ name }) => ask('DELETE', path`/api/mcp/servers/${name}`),
            confirm: [
              'Remove',
              ({ kind }) =>
                `Its decisions and secrets go too.${kind === 'program' ? ' A program can be added again in a terminal alone.' : ''}`,
            ],
          },
        ]}
      >
        <p class="muted text">
          A <a href={linkTo('personas')}>persona</a> names the servers that it uses. A server that is a program runs
          with the rights of the service, so it is added and its tools are allowed on its machine:{' '}
          <code>aichat mcp add NAME -- COMMAND</code>, then <code>aichat mcp allow NAME --service</code>.
        </p>
      </Listing>
      {server && <Tools key={server.name} server={server} onDecided={data.reload} />}
      {edited && <ServerDialog edited={edited} onClose={() => setEdited(undefined)} onSaved={data.reload} />}
    </>
  )
}

function isAddress({ kind }: ToolServer): boolean {
  return kind === 'address'
}

function stateOf({ connected, failure }: ToolServer): 'connected' | 'failed' | 'at rest' {
  return connected ? 'connected' : failure ? 'failed' : 'at rest'
}

interface ToolsProps {
  readonly server: ToolServer
  readonly onDecided: () => void
}

/** The tools of a server, which is connected to for them, and what chats here may do with them. */
function Tools({ server, onDecided }: ToolsProps) {
  const { name } = server
  const load = async (signal: AbortSignal) =>
    (await ask<{ tools: readonly ServerTool[] }>('POST', path`/api/mcp/servers/${name}/test`, { body: {}, signal }))
      .tools
  return (
    <Listing<ServerTool>
      title={`Tools of ${name}`}
      data={useData(load, [name])}
      keyOf={({ tool }) => tool}
      empty={['The server has no tools']}
      columns={[
        textColumn('Tool', ({ tool }) => tool),
        textColumn('Chats here', ({ service }) => meanings[service]),
        textColumn('At a terminal', ({ decision }) => meanings[decision]),
        { name: 'Description', of: ({ description }) => <span dir="auto">{description}</span> },
      ]}
      actions={choices.map(([icon, decision, word]) => ({
        icon,
        label: ({ tool }) => `${word} ${tool}`,
        isFor: ({ service }) => service !== decision && (isAddress(server) || decision === 'never'),
        async work({ tool, pin }) {
          await ask('PUT', path`/api/mcp/servers/${name}/decision`, { body: { tool, pin, decision } })
          onDecided()
        },
      }))}
    />
  )
}

interface ServerDialogProps {
  /** The server to edit; empty for a new one. */
  readonly edited: Partial<ToolServer>
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Adds a server by its address, or edits one; what is left empty stays as it is. */
function ServerDialog({
  edited: { name: before, place, headers: kept = [], timeout: limit },
  onClose,
  onSaved,
}: ServerDialogProps) {
  const [name, setName] = useState(before ?? '')
  const [url, setUrl] = useState('')
  const [headers, setHeaders] = useState('')
  const [seconds, setSeconds] = useState(String(limit ?? ''))
  const isNew = before === undefined
  const action = useAction(async () => {
    const lines = headers.split('\n').filter((line) => line.trim() !== '')
    const given = Object.fromEntries(
      lines.map((line) => [line.split(':', 1)[0]!.trim(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const body = {
      new: isNew,
      timeout: seconds.trim() === '' ? null : Number(seconds),
      ...(url.trim() !== '' && { url: url.trim() }),
      ...(lines.length > 0 && { headers: given }),
    }
    await ask('PUT', path`/api/mcp/servers/${name}`, { body })
    onClose()
    onSaved()
  })
  return (
    <Dialog title={isNew ? 'Add a tool server' : `Edit ${before}`} onClose={onClose}>
      <Form
        action={action}
        submit={isNew ? 'Add' : 'Save'}
        onCancel={onClose}
        isIncomplete={name === '' || (isNew && url.trim() === '')}
      >
        {isNew && <TextField label="Name" value={name} onInput={setName} isFirst hint="Letters, digits, _ and -" />}
        <TextField
          label="Address"
          type="url"
          value={url}
          onInput={setUrl}
          isFirst={!isNew}
          placeholder="https://tools.example/mcp"
          hint={isNew ? undefined : `Empty leaves the one at ${place}.`}
        />
        <TextArea
          label="Headers (optional)"
          value={headers}
          onInput={setHeaders}
          rows={2}
          isCode
          placeholder="Authorization: Bearer …"
          hint={`One a line; kept on the machine of the service, and never shown again.${kept.length > 0 ? ` Empty leaves ${kept.join(', ')}.` : ''}`}
        />
        <TextField
          label="Seconds that a call may take"
          inputMode="numeric"
          value={seconds}
          onInput={setSeconds}
          placeholder="60"
        />
      </Form>
    </Dialog>
  )
}
