import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** How long a message is shown: milliseconds. */
const shownMs = 5000
/** How long something can be taken back: milliseconds. */
export const undoMs = 8000

let next = 0
const listeners = new Set<(text: string, undo?: () => void) => void>()

/** Tells that something was done, in a corner and to screen readers; with `undo`, a button takes it back. */
export function tell(text: string, undo?: () => void): void {
  for (const listener of listeners) listener(text, undo)
}

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | undefined
}

/** The messages of the last seconds. */
export function Toasts() {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const leave = (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id))
  useEffect(() => {
    const show = (text: string, undo?: () => void) => {
      const id = ++next
      setToasts((shown) => [...shown.slice(-2), { id, text, undo }])
      setTimeout(() => leave(id), undo ? undoMs : shownMs)
    }
    listeners.add(show)
    return () => void listeners.delete(show)
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, undo }) => (
        <p key={id} dir="auto">
          {text}
          {undo && (
            <Button
              kind="quiet"
              icon="undo"
              onClick={() => {
                undo()
                leave(id)
              }}
            >
              Undo
            </Button>
          )}
        </p>
      ))}
    </div>
  )
}
