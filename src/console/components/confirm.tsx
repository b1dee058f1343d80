import type { ComponentChildren } from 'preact'
import { useAction } from '../wire/use-action.ts'
import { Dialog, Form } from './dialog.tsx'

interface ConfirmProps {
  readonly title: string
  readonly submit: string
  readonly work: () => Promise<unknown>
  readonly onDone?: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, submit, work, onDone, onClose, children }: ConfirmProps) {
  const action = useAction(async () => {
    await work()
    onClose()
    onDone?.()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} submit={submit} isDangerous onCancel={onClose}>
        <p>{children}</p>
      </Form>
    </Dialog>
  )
}
