import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Confirm } from '../../../components/confirm.tsx'
import { Check } from '../../../components/field.tsx'
import { Empty, Problem } from '../../../components/notice.tsx'
import { Section } from '../../../components/page.tsx'
import { Table } from '../../../components/table.tsx'
import { Time } from '../../../components/time.tsx'
import { tell } from '../../../components/toasts.tsx'
import { useSession } from '../../../page/session.ts'
import { ask, askPages, path } from '../../../wire/client.ts'
import type { Key } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { useData } from '../../../wire/use-data.ts'
import { KeyDialog } from './key-dialog.tsx'
import { type NewSecret, SecretDialog } from './secret-dialog.tsx'

const tones: Readonly<Record<Key['state'], Tone>> = {
  live: 'good',
  expired: 'warning',
  revoked: 'plain',
  ownerless: 'bad',
}

/** The API keys of programs: made, rotated and revoked here; a secret is shown once. */
export function Keys() {
  const { isAdmin } = useSession()
  const [all, setAll] = useState(false)
  const [isNew, setNew] = useState(false)
  const [secret, setSecret] = useState<NewSecret>()
  const [revoked, setRevoked] = useState<Key>()
  const data = useData(
    (signal) => askPages<Key>('/api/keys', 'keys', { query: { ...(all && { all }) }, signal }),
    [all],
  )
  const rotate = useAction(async ({ id }: Key) => {
    setSecret(await ask<NewSecret>('POST', path`/api/keys/${id}/rotate`, { body: {} }))
    data.reload()
  })
  const keys = data.value?.toReversed() ?? []
  return (
    <Section
      title="API keys"
      actions={
        <>
          {isAdmin && <Check label="of all users" isOn={all} onInput={setAll} />}
          <Button kind="main" icon="add" onClick={() => setNew(true)}>
            New key
          </Button>
        </>
      }
    >
      <Problem of={data.problem ?? rotate.problem} />
      {data.value && keys.length === 0 && (
        <Empty title="No key yet">
          <p>Programs use a key in place of your password: it can be limited, rotated and revoked.</p>
        </Empty>
      )}
      {keys.length > 0 && (
        <Table
          caption="API keys"
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            {
              name: 'Key',
              of: ({ name, last4 }) => (
                <>
                  <span class="line">{name}</span>
                  <span class="muted mono">…{last4}</span>
                </>
              ),
            },
            ...(all
              ? [
                  {
                    name: 'User',
                    of: ({ username }: Key) => <span class="line">{username ?? 'removed'}</span>,
                    isExtra: true,
                  },
                ]
              : []),
            { name: 'State', of: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
            { name: 'May', of: ({ scopes }) => <span class="line">{scopes.join(', ')}</span>, isExtra: true },
            {
              name: 'Last used',
              of: ({ last_used_at: at }) => (at === null ? <span class="muted">never</span> : <Time at={at} />),
              isExtra: true,
            },
            {
              name: '',
              of: (key) =>
                key.state === 'live' && (
                  <div class="buttons end">
                    <Button
                      icon="refresh"
                      label={`Rotate ${key.name}`}
                      isBusy={rotate.isRunning}
                      onClick={() => void rotate.run(key)}
                    />
                    <Button icon="trash" label={`Revoke ${key.name}`} onClick={() => setRevoked(key)} />
                  </div>
                ),
              isNumber: true,
            },
          ]}
        />
      )}
      {isNew && (
        <KeyDialog
          onClose={() => setNew(false)}
          onMade={(made) => {
            setNew(false)
            setSecret(made)
            data.reload()
          }}
        />
      )}
      {secret && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          submit="Revoke"
          work={() => ask('DELETE', path`/api/keys/${revoked.id}`)}
          onDone={() => {
            tell('Revoked: its streams have ended')
            data.reload()
          }}
          onClose={() => setRevoked(undefined)}
        >
          Programs with this key are refused at once, and their open streams end. It cannot be brought back.
        </Confirm>
      )}
    </Section>
  )
}
