import { useState } from 'preact/hooks'
import { numberColumn, stateColumn, textColumn } from '../../components/columns.tsx'
import { Listing } from '../../components/listing.tsx'
import { dateTime } from '../../page/format.ts'
import { linkTo } from '../../page/route.ts'
import { ask, path } from '../../wire/client.ts'
import type { ServerTool, ToolServer } from '../../wire/types.ts'
import { useData, useList } from '../../wire/use-data.ts'

/** What a decision about a tool means for a chat. */
const meanings: Readonly<Record<string, string>> = {
  always: 'allowed',
  ask: 'asked about',
  never: 'denied',
  no: 'not offered',
  changed: 'changed since it was allowed',
}

/** The MCP servers whose tools chats may call, what each offers, and why one fails. */
export function ToolServers() {
  const data = useList<ToolServer>('/api/mcp/servers', 'servers')
  const [shown, setShown] = useState<ToolServer>()
  return (
    <>
      <Listing<ToolServer>
        title="Tool servers"
        data={data}
        keyOf={({ name }) => name}
        empty={['No tool server', 'aichat mcp add NAME -- COMMAND adds one, on the machine of the service.']}
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
        actions={[{ icon: 'check', label: ({ name }) => `Show the tools of ${name}`, work: setShown }]}
      >
        <p class="muted text">
          A server is a program that runs on the machine of the service, so it is added, removed and its tools are
          allowed there: <code>aichat mcp add</code>, <code>remove</code>, and <code>allow --service</code> for chats
          here. A <a href={linkTo('personas')}>persona</a> names the servers that it uses.
        </p>
      </Listing>
      {shown && <Tools key={shown.name} server={shown} />}
    </>
  )
}

function stateOf({ connected, failure }: ToolServer): 'connected' | 'failed' | 'at rest' {
  return connected ? 'connected' : failure ? 'failed' : 'at rest'
}

/** The tools of a server, which is connected to for them. */
function Tools({ server: { name } }: { readonly server: ToolServer }) {
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
    />
  )
}
