import { useState } from 'preact/hooks'
import { Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { logIn } from '../../wire/account.ts'
import { useAction } from '../../wire/use-action.ts'

/** The login form. */
export function LogIn({ onEntered }: { readonly onEntered: () => void }) {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const action = useAction(async () => {
    await logIn({ username, password })
    onEntered()
  })
  return (
    <>
      <h1>Log in</h1>
      <Form action={action} submit="Log in" isIncomplete={username === '' || password === ''}>
        <TextField
          label="User name"
          value={username}
          onInput={setUsername}
          autoComplete="username"
          isRequired
          isFirst
        />
        <TextField
          label="Password"
          type="password"
          value={password}
          onInput={setPassword}
          autoComplete="current-password"
          isRequired
        />
      </Form>
    </>
  )
}
