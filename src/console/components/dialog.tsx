import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Action } from '../wire/use-action.ts'
import { Button } from './button.tsx'
import { Problem } from './notice.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

/** A dialog over the page; the browser keeps the focus inside, and Escape closes it: where something was typed, after asking. */
export function Dialog({ title, onClose, children, isWide }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  const isTyped = useRef(false)
  const [isAsking, setAsking] = useState(false)
  const leave = () => (isTyped.current && !isAsking ? setAsking(true) : onClose())
  // The element that had the focus before the dialog opened, read before the dialog takes it.
  const opener = useRef(document.activeElement)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => {
      // The rest of the page takes no focus while the dialog is open.
      dialog?.close()
      if (opener.current instanceof HTMLElement) opener.current.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onInput={({ target }) => {
        if (!(target instanceof HTMLInputElement && target.type === 'search')) isTyped.current = true
      }}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
    >
      <header>
        <h2 id={id} dir="auto">
          {title}
        </h2>
        <Button kind="quiet" icon="close" label="Close" onClick={leave} />
      </header>
      {isAsking && (
        <div class="notice warning" role="alert">
          <span>What you typed here is not saved.</span>
          <div class="buttons">
            <Button onClick={() => setAsking(false)}>Keep writing</Button>
            <Button kind="danger" onClick={onClose}>
              Discard it
            </Button>
          </div>
        </div>
      )}
      {children}
    </dialog>
  )
}

interface FormProps {
  readonly action: Action<[]>
  readonly submit: string
  readonly isDangerous?: boolean
  readonly isIncomplete?: boolean
  readonly onCancel?: () => void
  readonly children?: ComponentChildren
}

/** A form with its problem and its buttons; Enter sends it. */
export function Form({ action, submit, isDangerous, isIncomplete, onCancel, children }: FormProps) {
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run()
      }}
    >
      {children}
      <Problem of={action.problem} />
      <div class="buttons">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button
          kind={isDangerous ? 'danger' : 'main'}
          type="submit"
          isBusy={action.isRunning}
          isDisabled={isIncomplete === true}
        >
          {submit}
        </Button>
      </div>
    </form>
  )
}
