import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Notice } from '../../components/notice.tsx'
import { tell } from '../../components/toasts.tsx'
import { useSession } from '../../page/session.ts'
import { changePassword, systemInfo } from '../../wire/account.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'
import { passwordRule } from './new-account.tsx'

/** Changes the password of the logged-in user; their other logins end. */
export function PasswordDialog({ isForced, onClose }: { readonly isForced: boolean; readonly onClose: () => void }) {
  const { me, renew } = useSession()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const { value: system } = useData(systemInfo, [])
  const action = useAction(async () => {
    await changePassword(current, next)
    tell('The password is changed; your other logins have ended.')
    onClose()
    renew()
  })
  return (
    <Dialog title="Change the password" onClose={onClose}>
      {isForced && <Notice kind="warning">This password was set for you. Choose one of your own.</Notice>}
      <Form
        action={action}
        submit="Change the password"
        onCancel={onClose}
        isIncomplete={current === '' || next === ''}
      >
        {/* Lets password managers find the entry to renew. */}
        <input
          class="unseen"
          type="text"
          autoComplete="username"
          value={me.username}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <TextField
          label="Current password"
          type="password"
          value={current}
          onInput={setCurrent}
          autoComplete="current-password"
          isFirst
        />
        <TextField
          label="New password"
          type="password"
          value={next}
          onInput={setNext}
          autoComplete="new-password"
          hint={system && passwordRule(system.password_policy)}
        />
      </Form>
    </Dialog>
  )
}
