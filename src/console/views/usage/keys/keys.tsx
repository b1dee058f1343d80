import { useState } from 'preact/hooks'
import type { Tone } from '../../../components/badge.tsx'
import { stateColumn, textColumn, timeColumn } from '../../../components/columns.tsx'
import { Check } from '../../../components/field.tsx'
import { Listing } from '../../../components/listing.tsx'
import { Problem } from '../../../components/notice.tsx'
import { dateTime, dollars } from '../../../page/format.ts'
import { useSession } from '../../../page/session.ts'
import { ask, askPages, path } from '../../../wire/client.ts'
import type { Key, Limit } from '../../../wire/types.ts'
import { useData, useList } from '../../../wire/use-data.ts'
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

type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'limit'; readonly key: Key }

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
    async (signal) =>
      (await askPages<Key>('/api/keys', 'keys', { query: { ...(all && { all }) }, signal })).toReversed(),
    [all],
  )
  const limits = useList<Limit>('/api/limits', 'limits')
  const limitOf = ({ id }: Key) => limits.value?.find(({ subject }) => subject === `key:${id}`)
  return (
    <>
      <Listing<Key>
        title="API keys"
        data={data}
        controls={isAdmin && <Check label="of all users" isOn={all} onInput={setAll} />}
        main={{ icon: 'add', kind: 'main', words: 'New key', work: () => setOpen({ kind: 'new' }) }}
        keyOf={({ id }) => id}
        empty={['No key yet', 'Programs use a key in place of your password: it can be limited, rotated and revoked.']}
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
          ...(all ? [textColumn<Key>('User', ({ username }) => username ?? 'removed', { isExtra: true })] : []),
          stateColumn('State', ({ state }) => state, tones),
          textColumn('May', ({ scopes }) => scopes.join(', '), { isExtra: true }),
          { name: 'Limits', of: (key) => limitText(limitOf(key)), isExtra: true },
          timeColumn('Expires', ({ expires_at: at }) => at, 'never', {
            isExtra: true,
            value: ({ expires_at: at }) => at ?? Number.MAX_SAFE_INTEGER,
          }),
          timeColumn('Last used', ({ last_used_at: at }) => at, 'never', { isExtra: true }),
        ]}
        actions={[
          {
            icon: 'edit',
            label: ({ name }) => `Edit ${name}`,
            isFor: isLive,
            work: (key) => setOpen({ kind: 'edit', key }),
          },
          isAdmin && {
            icon: 'usage',
            label: ({ name }) => `Limit ${name}`,
            isFor: isLive,
            work: (key) => setOpen({ kind: 'limit', key }),
          },
          {
            icon: 'key',
            label: ({ name }) => `Rotate ${name}`,
            isFor: isLive,
            work: async ({ id }) => setSecret(await ask<NewSecret>('POST', path`/api/keys/${id}/rotate`, { body: {} })),
            confirm: ['Rotate', rotateText],
          },
          {
            icon: 'trash',
            label: ({ name }) => `Revoke ${name}`,
            isFor: isLive,
            work: ({ id }) => ask('DELETE', path`/api/keys/${id}`),
            done: 'Revoked: its streams have ended',
            confirm: [
              'Revoke',
              () =>
                'Programs with this key are refused at once, and their open streams end. It cannot be brought back.',
            ],
          },
        ]}
      >
        <Problem of={limits.problem} />
      </Listing>
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
    </>
  )
}

function isLive({ state }: Key): boolean {
  return state === 'live'
}

function rotateText(): string {
  const until = dateTime(Date.now() + overlapMs)
  return `The key gets a new secret, which is shown once. The old one works for 24 hours more, until ${until}: give the new one to its programs by then.`
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
