import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Copy } from '../../components/copy.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Problem } from '../../components/notice.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { count, dollars } from '../../page/format.ts'
import type { Persona } from '../../wire/types.ts'
import type { Versions } from './branches.ts'
import { type ChatMessage, flawOf, type Partner, type Report } from './chat-message.ts'
import { AttachmentView } from './composer.tsx'
import { ModelPicker } from './model-picker.tsx'
import { ToolCalls, ToolQuestion } from './tool-calls.tsx'
import { UsedMemories } from './used-memories.tsx'

interface MessageProps {
  readonly partner: Partner
  readonly message: ChatMessage
  /** Asks the question again; absent where that cannot be. */
  readonly onRetry: (() => void) | undefined
  /** The versions of a question in the branches of the conversation. */
  readonly versions: Versions | undefined
  readonly onShowVersion: (id: string) => void
  /** Goes on from a question in other words; absent while an answer is being written. */
  readonly onEdit: ((text: string) => void) | undefined
  /** Asks for another answer, of another model too; absent while one is being written. */
  readonly onAgain: ((model?: string) => void) | undefined
}

/** A message of a conversation; an answer with its report. */
export function MessageView({ partner, message, onRetry, versions, onShowVersion, onEdit, onAgain }: MessageProps) {
  const { role, text, attachments = [], thinking, refusal, isWriting, isStopped, isUnanswered, problem } = message
  const asked = isWriting ? message.calls?.find(({ state }) => state === 'asks') : undefined
  const calls = message.calls?.filter((call) => call !== asked) ?? []
  const [isEditing, setEditing] = useState(false)
  const isAnswer = role === 'assistant'
  const flaw = !problem && flawOf(message)
  const isOpen = problem || (isStopped && text.trim() === '') || isUnanswered
  return (
    <li class={`message ${role}`}>
      <p class="unseen">{isAnswer ? partner.name : 'You'}:</p>
      {attachments.length > 0 && (
        <ul class="attachments" aria-label="Files">
          {attachments.map((each) => (
            <AttachmentView key={each.key} attachment={each} />
          ))}
        </ul>
      )}
      {thinking !== undefined && <Thinking text={thinking} />}
      {calls.length > 0 && <ToolCalls calls={calls} isWriting={isWriting === true} />}
      {isAnswer && <Markdown text={text} isWriting={isWriting === true} />}
      {asked && <ToolQuestion key={asked.id} call={asked} />}
      {!isAnswer && isEditing && onEdit && (
        <EditQuestion
          text={text}
          onCancel={() => setEditing(false)}
          onSend={(next) => {
            setEditing(false)
            onEdit(next)
          }}
        />
      )}
      {!isAnswer && !isEditing && (
        <div class="text">
          <PlainText text={text} />
        </div>
      )}
      {isWriting && text === '' && !asked && <p class="muted">…</p>}
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
      {isAnswer && !isWriting && <Foot persona={partner.persona} message={message} onAgain={onAgain} />}
      {!isAnswer && !isEditing && (
        <div class="row question-foot muted">
          {versions && <VersionSwitch versions={versions} onShow={onShowVersion} />}
          {onEdit && <Button kind="quiet" icon="edit" label="Edit the question" onClick={() => setEditing(true)} />}
        </div>
      )}
    </li>
  )
}

/** Goes through the versions of a question, each with its answer and all that followed. */
function VersionSwitch({
  versions: { ids, shown },
  onShow,
}: {
  readonly versions: Versions
  readonly onShow: (id: string) => void
}) {
  const show = (at: number) => ids[at] !== undefined && onShow(ids[at])
  return (
    <fieldset class="row versions" aria-label="Versions of this question">
      <Button
        kind="quiet"
        icon="back"
        label="Earlier version"
        isDisabled={shown === 0}
        onClick={() => show(shown - 1)}
      />
      <span>{`${count(shown + 1)} of ${count(ids.length)}`}</span>
      <Button
        kind="quiet"
        icon="next"
        label="Later version"
        isDisabled={shown === ids.length - 1}
        onClick={() => show(shown + 1)}
      />
    </fieldset>
  )
}

function EditQuestion({
  text: before,
  onSend,
  onCancel,
}: {
  readonly text: string
  readonly onSend: (text: string) => void
  readonly onCancel: () => void
}) {
  const [text, setText] = useState(before)
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        onSend(text)
      }}
    >
      <textarea
        class="input"
        aria-label="The question in other words"
        dir="auto"
        rows={4}
        // biome-ignore lint/a11y/noAutofocus: the person asked to edit it
        autoFocus
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          if (text.trim() !== '') onSend(text)
        }}
      />
      <p class="hint">The conversation goes on from here in a branch; what was said stays to be seen.</p>
      <div class="buttons">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="main" type="submit" isDisabled={text.trim() === ''}>
          Ask
        </Button>
      </div>
    </form>
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
  message: { text, report = {} as Report },
  onAgain,
}: {
  readonly persona: Persona | undefined
  readonly message: ChatMessage
  readonly onAgain: MessageProps['onAgain']
}) {
  const [showsMemories, setShowsMemories] = useState(false)
  const [isChoosing, setChoosing] = useState(false)
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
        {onAgain && (
          <>
            <Button kind="quiet" icon="refresh" label="Answer again" onClick={() => onAgain()} />
            <Button
              kind="quiet"
              icon="next"
              label="Answer again with another model"
              onClick={() => setChoosing(true)}
            />
          </>
        )}
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
      {isChoosing && onAgain && (
        <ModelPicker chosen={model ?? ''} onChoose={onAgain} onClose={() => setChoosing(false)} />
      )}
    </>
  )
}
