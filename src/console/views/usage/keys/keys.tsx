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
import { dateTime, dollars } from '../../../page/format.ts'
import { useSession } from '../../../page/session.ts'
import { ask, askPages, path } from '../../../wire/client.ts'
import type { Key, Limit } from '../../../wire/types.ts'
import { useData } from '../../../wire/use-data.ts'
import { ratesOf } from '../limits/budgets.tsx'
import { LimitDialog } from '../limits/limit-dialog.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { type NewSecret, SecretDialog } from './secret-dialog.tsx'

const tones: Readonly<Record<Key['state'], Tone>> = {
  live: 'good',
  expired: 'warning',
  revoked: 'plain',
  ownerless: 'bad',
}

/** The dialog that is open. */
type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'limit' | 'rotate' | 'revoke'; readonly key: Key }

/** How long the old secret of a rotated key works, unless the request says otherwise: milliseconds. */
const overlapMs = 86_400_000

/** The API keys of programs: made, rotated and revoked here; a secret is shown once. */
export function Keys() {
  const { isAdmin } = useSession()
  const [all, setAll] = useState(false)
  const [open, setOpen] = useState<Open>()
  const [secret, setSecret] = useState<NewSecret>()
  const close = () => setOpen(undefined)
  const data = useData(
    (signal) => askPages<Key>('/api/keys', 'keys', { query: { ...(all && { all }) }, signal }),
    [all],
  )
  const limits = useData<{ limits: readonly Limit[] }>((signal) => ask('GET', '/api/limits', { signal }), [])
  const limitOf = ({ id }: Key) => limits.value?.limits.find(({ subject }) => subject === `key:${id}`)
  const keys = data.value?.toReversed() ?? []
  return (
    <Section
      title="API keys"
      actions={
        <>
          {isAdmin && <Check label="of all users" isOn={all} onInput={setAll} />}
          <Button kind="main" icon="add" onClick={() => setOpen({ kind: 'new' })}>
            New key
          </Button>
        </>
      }
    >
      <Problem of={data.problem ?? limits.problem} />
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
              value: ({ name }) => name,
            },
            ...(all
              ? [
                  {
                    name: 'User',
                    of: ({ username }: Key) => <span class="line">{username ?? 'removed'}</span>,
                    value: ({ username }: Key) => username,
                    isExtra: true,
                  },
                ]
              : []),
            {
              name: 'State',
              of: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
              value: ({ state }) => state,
            },
            { name: 'May', of: ({ scopes }) => <span class="line">{scopes.join(', ')}</span>, isExtra: true },
            { name: 'Limits', of: (key) => limitText(limitOf(key)), isExtra: true },
            {
              name: 'Expires',
              of: ({ expires_at: at }) => (at === null ? <span class="muted">never</span> : <Time at={at} />),
              value: ({ expires_at: at }) => at ?? Number.MAX_SAFE_INTEGER,
              isExtra: true,
            },
            {
              name: 'Last used',
              of: ({ last_used_at: at }) => (at === null ? <span class="muted">never</span> : <Time at={at} />),
              value: ({ last_used_at: at }) => at ?? 0,
              isExtra: true,
            },
            {
              name: '',
              of: (key) =>
                key.state === 'live' && (
                  <div class="buttons end">
                    <Button icon="edit" label={`Edit ${key.name}`} onClick={() => setOpen({ kind: 'edit', key })} />
                    {isAdmin && (
                      <Button
                        icon="usage"
                        label={`Limit ${key.name}`}
                        onClick={() => setOpen({ kind: 'limit', key })}
                      />
                    )}
                    <Button icon="key" label={`Rotate ${key.name}`} onClick={() => setOpen({ kind: 'rotate', key })} />
                    <Button
                      icon="trash"
                      label={`Revoke ${key.name}`}
                      onClick={() => setOpen({ kind: 'revoke', key })}
                    />
                  </div>
                ),
              isNumber: true,
            },
          ]}
        />
      )}
      {(open?.kind === 'new' || open?.kind === 'edit') && (
        <KeyDialog
          {...(open.kind === 'edit' && { edited: open.key })}
          onClose={close}
          onSaved={(made) => {
            close()
            setSecret(made)
            data.reload()
            limits.reload()
          }}
        />
      )}
      {open?.kind === 'limit' && (
        <LimitDialog
          {...(limitOf(open.key) && { limit: limitOf(open.key)! })}
          subject={`key:${open.key.id}`}
          onClose={close}
          onSaved={limits.reload}
        />
      )}
      {secret && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
      {open?.kind === 'rotate' && (
        <Confirm
          title={`Rotate ${open.key.name}?`}
          submit="Rotate"
          work={async () =>
            setSecret(await ask<NewSecret>('POST', path`/api/keys/${open.key.id}/rotate`, { body: {} }))
          }
          onDone={data.reload}
          onClose={close}
        >
          The key gets a new secret, which is shown once. The old one works for 24 hours more, until{' '}
          {dateTime(Date.now() + overlapMs)}: give the new one to its programs by then.
        </Confirm>
      )}
      {open?.kind === 'revoke' && (
        <Confirm
          title={`Revoke ${open.key.name}?`}
          submit="Revoke"
          work={() => ask('DELETE', path`/api/keys/${open.key.id}`)}
          onDone={() => {
            tell('Revoked: its streams have ended')
            data.reload()
          }}
          onClose={close}
        >
          Programs with this key are refused at once, and their open streams end. It cannot be brought back.
        </Confirm>
      )}
    </Section>
  )
}

/** The budgets and rates of a key in a line. */
function limitText(limit: Limit | undefined) {
  if (!limit) return <span class="muted">none</span>
  const budgets = limit.budgets.map(
    ({ amount_usd, spent_usd, period }) =>
      `${dollars(Number(spent_usd))} of ${dollars(Number(amount_usd))} a ${period}`,
  )
  return [...budgets, ...ratesOf(limit)].join(' · ')
}
