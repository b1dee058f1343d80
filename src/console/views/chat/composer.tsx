import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import type { Picture } from './chat-message.ts'
import { readPicture } from './pictures.ts'

interface ComposerProps {
  readonly isAnswering: boolean
  readonly onSend: (text: string, pictures: readonly Picture[]) => void
  readonly onStop: () => void
}

/** The field for the next message. Enter sends, Shift and Enter begin a line, Escape stops an answer. */
export function Composer({ isAnswering, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('')
  const [pictures, setPictures] = useState<readonly Picture[]>([])
  const chooser = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  // On a touch screen the focus would bring up the keyboard.
  useEffect(() => {
    if (document.activeElement === document.body && !matchMedia('(pointer: coarse)').matches) field.current?.focus()
  }, [])
  const isEmpty = text.trim() === '' && pictures.length === 0
  const send = () => {
    if (isEmpty || isAnswering) return
    onSend(text, pictures)
    setText('')
    setPictures([])
  }
  const take = async (files: Iterable<File>) => {
    const taken = await Promise.all([...files].filter(({ type }) => type.startsWith('image/')).map(readPicture))
    setPictures((now) => [...now, ...taken])
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {pictures.length > 0 && (
        <div class="row">
          {pictures.map(({ name, address }) => (
            <figure key={address} class="thumb">
              <img src={address} alt={name} />
              <Button
                icon="close"
                label={`Remove ${name}`}
                onClick={() => setPictures(pictures.filter((picture) => picture.address !== address))}
              />
            </figure>
          ))}
        </div>
      )}
      <textarea
        ref={field}
        class="input"
        aria-label="Message"
        placeholder="Message"
        dir="auto"
        rows={3}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onPaste={({ clipboardData }) => void take(clipboardData?.files ?? [])}
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
          accept="image/*"
          multiple
          tabIndex={-1}
          aria-label="Pictures"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files ?? [])
            currentTarget.value = ''
          }}
        />
        <Button kind="quiet" icon="picture" label="Add pictures" onClick={() => chooser.current?.click()} />
        {isAnswering ? (
          <Button icon="stop" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button kind="main" icon="send" type="submit" isDisabled={isEmpty}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}
