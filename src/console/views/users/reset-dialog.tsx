import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Copy } from '../../components/copy.tsx'
import { Dialog, Form } from '../../components/dialog.tsx'
import { Check } from '../../components/field.tsx'
import { Notice } from '../../components/notice.tsx'
import { ask } from '../../wire/client.ts'
import type { User } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'

/** Sets a random password, which the user changes at the next login. */
export function ResetDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const [revokes, setRevokes] = useState(false)
  const [password, setPassword] = useState<string>()
  const action = useAction(async () => {
    const body = { user_id: user.id, revoke_keys: revokes }
    setPassword(
      (await ask<{ temporary_password: string }>('POST', '/api/auth/reset-password', { body })).temporary_password,
    )
  })
  return (
    <Dialog title={`Reset the password of ${user.username}`} onClose={onClose}>
      {password === undefined ? (
        <Form action={action} submit="Make a new password" onCancel={onClose}>
          <p>Every login of the user ends.</p>
          <Check label="Revoke their API keys, too" isOn={revokes} onInput={setRevokes} />
        </Form>
      ) : (
        <>
          <Notice kind="warning">Give the user this password; it is shown this once.</Notice>
          <code class="secret">{password}</code>
          <div class="buttons end">
            <Copy text={password} />
            <Button kind="main" onClick={onClose}>
              Done
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
