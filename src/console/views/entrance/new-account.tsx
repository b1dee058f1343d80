import { useState } from 'preact/hooks'
import { Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { goTo } from '../../page/route.ts'
import { register, setUp } from '../../wire/account.ts'
import { Refused } from '../../wire/client.ts'
import type { SystemInfo } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'

interface NewAccountProps {
  /** The first account becomes the administrator. */
  readonly isFirst: boolean
  readonly policy: SystemInfo['password_policy']
  readonly onEntered: () => void
}

/** The form of first-time setup, and of registration. */
export function NewAccount({ isFirst, policy, onEntered }: NewAccountProps) {
  const [username, setUsername] = useState(isFirst ? 'admin' : '')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [setupToken, setSetupToken] = useState('')
  const [needsToken, setNeedsToken] = useState(false)
  const action = useAction(async () => {
    const newcomer = { username, password, ...(email !== '' && { email }) }
    try {
      await (isFirst ? setUp(newcomer, setupToken) : register(newcomer))
    } catch (reason) {
      if (isFirst && reason instanceof Refused && reason.status === 403) setNeedsToken(true)
      throw reason
    }
    // The way to a first answer begins there.
    if (isFirst) goTo('chat')
    onEntered()
  })
  return (
    <>
      <h1>{isFirst ? 'Set up aichat' : 'Create an account'}</h1>
      {isFirst && <p class="lead">There is no user yet. The first account becomes the administrator.</p>}
      <Form
        action={action}
        submit={isFirst ? 'Create the administrator' : 'Create the account'}
        isIncomplete={username === '' || password === ''}
      >
        <TextField
          label="User name"
          value={username}
          onInput={setUsername}
          autoComplete="username"
          isRequired
          isFirst
        />
        <TextField label="E-mail (optional)" type="email" value={email} onInput={setEmail} autoComplete="email" />
        <TextField
          label="Password"
          type="password"
          value={password}
          onInput={setPassword}
          autoComplete="new-password"
          hint={passwordRule(policy)}
          isRequired
        />
        {needsToken && (
          <TextField
            label="Setup token"
            value={setupToken}
            onInput={setSetupToken}
            hint="The service printed it on its terminal at the start, or wrote it into the file that its log names."
          />
        )}
      </Form>
    </>
  )
}

/** The rule for passwords in a sentence. */
export function passwordRule({ min_length: least, upper, lower, digit }: SystemInfo['password_policy']): string {
  const parts = [upper && 'a capital letter', lower && 'a small letter', digit && 'a digit'].filter(Boolean)
  return `At least ${least} characters${parts.length > 0 ? `, with ${new Intl.ListFormat('en').format(parts as string[])}` : ''}.`
}
