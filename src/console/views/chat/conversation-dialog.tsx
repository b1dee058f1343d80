import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Problem } from '../../components/notice.tsx'
import { dateTime } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import { saveBlob } from '../../wire/save.ts'
import type { SavedSession, WholeSession } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { textOf } from './chat-message.ts'

interface ConversationDialogProps {
  readonly session: SavedSession
  readonly onChanged: () => void
  readonly onRemove: () => void
  readonly onClose: () => void
}

/** What can be done with a saved conversation: rename it, pin it, save it as a file, delete it. */
export function ConversationDialog({ session, onChanged, onRemove, onClose }: ConversationDialogProps) {
  const [name, setName] = useState(session.name)
  const put = async (body: { name: string } | { pinned: boolean }) => {
    await ask('PUT', path`/api/sessions/${session.id}`, { body })
    onChanged()
    onClose()
  }
  const rename = useAction(() => put({ name }))
  const pin = useAction(() => put({ pinned: !session.pinned }))
  const save = useAction(async (kind: 'md' | 'json') => {
    const whole = await ask<WholeSession>('GET', path`/api/sessions/${session.id}`)
    const text = kind === 'md' ? markdownOf(whole) : `${JSON.stringify(whole, null, 2)}\n`
    const file = session.name.replace(/[^\p{L}\p{N} ._-]/gu, '').trim() || 'conversation'
    saveBlob(new Blob([text], { type: kind === 'md' ? 'text/markdown' : 'application/json' }), `${file}.${kind}`)
  })
  return (
    <Dialog title="Conversation" onClose={onClose}>
      <Form action={rename} submit="Rename" isIncomplete={name.trim() === '' || name === session.name}>
        <TextField label="Name" value={name} onInput={setName} maxLength={200} isFirst />
      </Form>
      <div class="buttons spread">
        <Button icon="pin" onClick={() => void pin.run()}>
          {session.pinned ? 'Unpin' : 'Pin to the top'}
        </Button>
        <Button icon="download" onClick={() => void save.run('md')}>
          Save as Markdown
        </Button>
        <Button icon="download" onClick={() => void save.run('json')}>
          Save as JSON
        </Button>
        <Button icon="trash" kind="danger" onClick={onRemove}>
          Delete
        </Button>
      </div>
      <Problem of={pin.problem ?? save.problem} />
      <p class="hint">The memories that came from a conversation stay when it is deleted.</p>
    </Dialog>
  )
}

/** The calls of an answer as blocks of code, in which nothing is markup. */
function callsText(calls: NonNullable<WholeSession['messages'][number]['answer']>['calls'] = []): readonly string[] {
  return calls.map(({ server, tool, state, arguments: given, result = '' }) =>
    `${tool} of ${server} (${state})\n${given}\n${result}`.trimEnd().replace(/^/gm, '    '),
  )
}

function markdownOf({ name, messages }: WholeSession): string {
  const said = messages.map((message) => {
    const { role, timestamp, answer, content } = message as typeof message & { readonly content?: unknown }
    const speaker = role === 'user' ? 'You' : role === 'assistant' ? (answer?.model ?? 'Answer') : role
    return `## ${speaker}, ${dateTime(timestamp)}\n\n${[...callsText(answer?.calls), textOf(content)].join('\n\n')}\n`
  })
  return `# ${name}\n\n${said.join('\n')}`
}
