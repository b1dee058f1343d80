import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { type Attachment, readAttachment, unread } from './attachments.ts'
import { draftFilesOf, draftOf, keepDraft, keepDraftFiles } from './drafts.ts'

interface ComposerProps {
  /** The conversation whose draft is in the field. */
  readonly place: string
  readonly isAnswering: boolean
  readonly onSend: (text: string, attachments: readonly Attachment[]) => void
  readonly onStop: () => void
}

/** The field for the next message. Enter sends, Shift and Enter begin a line, Escape stops an answer. */
export function Composer({ place, isAnswering, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState(() => draftOf(place))
  const [attachments, setAttachments] = useState<readonly Attachment[]>(() =>
    draftFilesOf(place).filter(({ isReading }) => !isReading),
  )
  const [isOver, setOver] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  // On a touch screen the focus would bring up the keyboard.
  useEffect(() => {
    if (document.activeElement === document.body && !matchMedia('(pointer: coarse)').matches) field.current?.focus()
  }, [])
  useEffect(() => keepDraftFiles(place, attachments), [attachments])
  useEffect(() => {
    setText(draftOf(place))
    setAttachments(draftFilesOf(place))
  }, [place])
  const write = (value: string) => {
    setText(value)
    keepDraft(place, value)
  }
  const usable = attachments.filter(({ problem }) => problem === undefined)
  const isReading = attachments.some((each) => each.isReading)
  const isEmpty = text.trim() === '' && usable.length === 0
  const send = () => {
    if (isEmpty || isAnswering || isReading) return
    onSend(text, usable)
    write('')
    setAttachments([])
  }
  const take = (files: Iterable<File>) => {
    for (const file of files) {
      const begun = unread(file)
      setAttachments((now) => [...now, begun])
      void readAttachment(begun, file).then((read) =>
        setAttachments((now) => now.map((each) => (each.key === read.key ? read : each))),
      )
    }
  }
  return (
    <form
      class={isOver ? 'composer over' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files ?? [])
      }}
    >
      {attachments.length > 0 && (
        <ul class="attachments" aria-label="Files">
          {attachments.map((each) => (
            <AttachmentView
              key={each.key}
              attachment={each}
              onRemove={() => setAttachments((now) => now.filter(({ key }) => key !== each.key))}
            />
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        class="input"
        aria-label="Message"
        placeholder="Message"
        dir="auto"
        rows={3}
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onPaste={(event) => {
          const files = event.clipboardData?.files ?? []
          if (files.length === 0) return
          event.preventDefault()
          take(files)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && isAnswering) onStop()
          // An input method ends its own word with Enter.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <div class="row between">
        <input
          ref={chooser}
          class="unseen"
          type="file"
          multiple
          tabIndex={-1}
          aria-label="Add files"
          onChange={({ currentTarget }) => {
            take(currentTarget.files ?? [])
            currentTarget.value = ''
          }}
        />
        <Button kind="quiet" icon="attach" label="Add pictures and files" onClick={() => chooser.current?.click()} />
        {isAnswering ? (
          <Button icon="stop" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button kind="main" icon="send" type="submit" isDisabled={isEmpty || isReading}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}

/** A file of a question, and what becomes of it. */
export function AttachmentView({
  attachment: { name, note, address, problem },
  onRemove,
}: {
  readonly attachment: Attachment
  readonly onRemove?: () => void
}) {
  return (
    <li class={problem ? 'attachment bad' : 'attachment'}>
      {address && <img src={address} alt={name} />}
      <span>
        <strong dir="auto">{name.slice(0, 80)}</strong> <span>{problem ?? note}</span>
      </span>
      {onRemove && <Button kind="quiet" icon="close" label={`Remove ${name.slice(0, 80)}`} onClick={onRemove} />}
    </li>
  )
}
