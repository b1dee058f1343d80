import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/notice.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { ask, path } from '../../wire/client.ts'
import { useAction } from '../../wire/use-action.ts'
import type { ToolCall } from './chat-message.ts'

const states: Readonly<Record<ToolCall['state'], readonly [Tone, string]>> = {
  asks: ['warning', 'not answered'],
  runs: ['busy', 'running'],
  done: ['good', 'done'],
  failed: ['bad', 'failed'],
  refused: ['warning', 'not allowed'],
}

/** The calls of tools in an answer, each folded up: its arguments and its result. */
export function ToolCalls({ calls, isWriting }: { readonly calls: readonly ToolCall[]; readonly isWriting: boolean }) {
  return (
    <ul class="tool-calls" aria-label="Calls of tools">
      {calls.map((call) => {
        const [tone, word] =
          call.state === 'runs' && !isWriting ? (['warning', 'stopped'] as const) : states[call.state]
        return (
          <li key={call.id}>
            <Folded title={`${call.tool.slice(0, 100)} of ${call.server}`} tone={tone} word={word} call={call} />
          </li>
        )
      })}
    </ul>
  )
}

interface FoldedProps {
  readonly title: string
  readonly tone: Tone
  readonly word: string
  readonly call: ToolCall
}

/** A call that is drawn whole only while it is open: a result may have 50,000 characters. */
function Folded({ title, tone, word, call }: FoldedProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{title}</bdi> <Badge tone={tone}>{word}</Badge>
      </summary>
      {isOpen && (
        <div class="text" dir="auto">
          <strong>Arguments</strong>
          <PlainText text={call.arguments} />
          {call.result !== undefined && <strong>Result</strong>}
          {call.result !== undefined && <PlainText text={call.result} />}
        </div>
      )}
    </details>
  )
}

/** A call that waits for a yes: what would be done, whole, and the two answers. */
export function ToolQuestion({
  call: { id, server, tool, description = '', arguments: given },
}: {
  readonly call: ToolCall
}) {
  const answer = useAction((allow: boolean) => ask('POST', path`/api/chat/tools/${id}`, { body: { allow } }))
  return (
    <fieldset class="notice warning tool-question" aria-label="May this tool be called?">
      <p>
        The model wants to call <strong dir="auto">{tool.slice(0, 100)}</strong> of <strong>{server}</strong>, with:
      </p>
      <div class="text given" dir="auto">
        <PlainText text={given} />
      </div>
      {description !== '' && (
        <p class="muted text" dir="auto">
          {description.slice(0, 300)}
        </p>
      )}
      <Problem of={answer.problem} />
      <div class="buttons">
        <Button isBusy={answer.isRunning} onClick={() => void answer.run(false)}>
          Deny
        </Button>
        <Button kind="main" isBusy={answer.isRunning} onClick={() => void answer.run(true)}>
          Allow
        </Button>
      </div>
    </fieldset>
  )
}
