import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Copy } from '../../components/copy.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Problem } from '../../components/notice.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { count, dollars } from '../../page/format.ts'
import type { Persona } from '../../wire/types.ts'
import { type ChatMessage, canAskAgain, flawOf, type Partner, type Report } from './chat-message.ts'
import { UsedMemories } from './used-memories.tsx'

interface MessageProps {
  readonly partner: Partner
  readonly message: ChatMessage
  /** Asks the question again; absent where that cannot be. */
  readonly onRetry: (() => void) | undefined
}

/** A message of a conversation; an answer with its report. */
export function MessageView({ partner, message, onRetry }: MessageProps) {
  const { role, text, pictures = [], thinking, refusal, isWriting, isStopped, isUnanswered, problem, report } = message
  const isAnswer = role === 'assistant'
  const flaw = !problem && flawOf(message)
  const isOpen = problem || (isStopped && text.trim() === '') || (isUnanswered && canAskAgain(message))
  return (
    <li class={`message ${role}`}>
      <p class="unseen">{isAnswer ? partner.name : 'You'}:</p>
      {pictures.map(({ name, address }) => (
        <img key={address} src={address} alt={name} />
      ))}
      {thinking !== undefined && <Thinking text={thinking} />}
      {isAnswer ? (
        <Markdown text={text} isWriting={isWriting === true} />
      ) : (
        <div class="text">
          <PlainText text={text} />
        </div>
      )}
      {isWriting && text === '' && <p class="muted">…</p>}
      {refusal !== undefined && (
        <div class="text">
          <PlainText text={refusal} />
        </div>
      )}
      {flaw && (
        <p class="row muted">
          <Badge tone="warning">{flaw.word}</Badge> {flaw.sentence}
        </p>
      )}
      <Problem of={problem} />
      {onRetry && isOpen && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
      {isAnswer && !isWriting && <Foot persona={partner.persona} text={text} report={report} />}
    </li>
  )
}

/** The model's thinking, folded up; it is drawn only while it is open. */
function Thinking({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="thinking muted" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Thinking</summary>
      {isOpen && (
        <div class="text">
          <PlainText text={text} />
        </div>
      )}
    </details>
  )
}

function Foot({
  persona,
  text,
  report = {},
}: {
  readonly persona: Persona | undefined
  readonly text: string
  readonly report: Report | undefined
}) {
  const [showsMemories, setShowsMemories] = useState(false)
  const { memories = [], model, plugin, runner, fallback, attempts = [], cost, warnings = [] } = report
  const failed = attempts.filter(({ outcome }) => outcome === 'failed')
  return (
    <>
      <div class="row message-foot muted">
        {model && (
          <span class="line">
            {plugin ?? runner}: {model}
          </span>
        )}
        {fallback && <Badge tone="warning">fell back</Badge>}
        {cost?.tokens && <span>{count(cost.tokens.output)} tokens</span>}
        {cost?.cost_usd != null && Number(cost.cost_usd) > 0 && <span>{dollars(Number(cost.cost_usd))}</span>}
        {memories.length > 0 && (
          <button
            type="button"
            class="link"
            aria-expanded={showsMemories}
            onClick={() => setShowsMemories(!showsMemories)}
          >
            {memories.length === 1 ? '1 memory went in' : `${count(memories.length)} memories went in`}
          </button>
        )}
        {text !== '' && <Copy text={text} />}
      </div>
      {failed.map(({ plugin: asked, runner: local, error }) => (
        <p key={`${asked} ${local}`} class="muted text">
          {asked ?? local} failed: {error}
        </p>
      ))}
      {warnings.map((warning) => (
        <p key={warning} class="muted text">
          {warning}
        </p>
      ))}
      {persona && showsMemories && <UsedMemories persona={persona} used={memories} />}
    </>
  )
}
