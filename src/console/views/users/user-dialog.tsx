import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { ask, path } from '../../wire/client.ts'
import type { User } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'

interface UserDialogProps {
  /** The user to edit; without one a new one is created. */
  readonly user?: User
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Creates or edits a user. */
export function UserDialog({ user, onClose, onSaved }: UserDialogProps) {
  const [username, setUsername] = useState(user?.username ?? '')
  const [email, setEmail] = useState(user?.email ?? '')
  const [role, setRole] = useState<User['role']>(user?.role ?? 'user')
  const [password, setPassword] = useState('')
  const action = useAction(async () => {
    const body = { username, email: email === '' ? null : email, role }
    await (user
      ? ask('PUT', path`/api/users/${user.id}`, { body })
      : ask('POST', '/api/users', { body: { ...body, password } }))
    onClose()
    onSaved()
  })
  return (
    <Dialog title={user ? `Edit ${user.username}` : 'New user'} onClose={onClose}>
      <Form
        action={action}
        submit={user ? 'Save' : 'Create'}
        onCancel={onClose}
        isIncomplete={username === '' || (!user && password === '')}
      >
        <TextField label="User name" value={username} onInput={setUsername} autoComplete="off" isRequired isFirst />
        <TextField label="E-mail (optional)" type="email" value={email} onInput={setEmail} autoComplete="off" />
        <Select
          label="Role"
          value={role}
          onInput={setRole}
          options={[
            ['user', 'user'],
            ['admin', 'administrator'],
          ]}
        />
        {!user && (
          <TextField
            label="Password"
            type="password"
            value={password}
            onInput={setPassword}
            autoComplete="new-password"
            isRequired
          />
        )}
      </Form>
    </Dialog>
  )
}
