import { useEffect, useState } from 'preact/hooks'

/** How long a message is shown: milliseconds. */
const shownMs = 5000

let next = 0
const listeners = new Set<(text: string) => void>()

/** Tells that something was done, in a corner and to screen readers. */
export function tell(text: string): void {
  for (const listener of listeners) listener(text)
}

/** The messages of the last seconds. */
export function Toasts() {
  const [toasts, setToasts] = useState<readonly { readonly id: number; readonly text: string }[]>([])
  useEffect(() => {
    const show = (text: string) => {
      const id = ++next
      setToasts((shown) => [...shown.slice(-2), { id, text }])
      setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), shownMs)
    }
    listeners.add(show)
    return () => void listeners.delete(show)
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text }) => (
        <p key={id} dir="auto">
          {text}
        </p>
      ))}
    </div>
  )
}
