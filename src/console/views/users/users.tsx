import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Listing } from '../../components/listing.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { count, date } from '../../page/format.ts'
import type { ViewProps } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask, path } from '../../wire/client.ts'
import type { User } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { ResetDialog } from './reset-dialog.tsx'
import { UserDialog } from './user-dialog.tsx'

type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'reset'; readonly user: User }

const pageSize = 100

/** The users of the installation, for administrators. */
export function Users({ route }: ViewProps) {
  const { me } = useSession()
  const [query, setQuery] = useState(route.query.get('q') ?? '')
  const [offset, setOffset] = useState(0)
  const [open, setOpen] = useState<Open>()
  const data = useData<{ users: readonly User[]; total: number }>(
    (signal) => ask('GET', '/api/users', { query: { limit: pageSize, offset, ...(query && { q: query }) }, signal }),
    [query, offset],
  )
  const close = () => setOpen(undefined)
  const { total = 0 } = data.value ?? {}
  return (
    <Page title="Users" lead={data.value && (total === 1 ? '1 user' : `${count(total)} users`)}>
      <Listing<User>
        title="Accounts"
        data={{ ...data, value: data.value?.users }}
        main={{ icon: 'add', kind: 'main', words: 'New user', work: () => setOpen({ kind: 'new' }) }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Name',
            of: ({ id, username }) => (
              <span class="line">
                {username}
                {id === me.id && <span class="muted"> (you)</span>}
              </span>
            ),
          },
          { name: 'E-mail', of: ({ email }) => <span class="line">{email}</span>, isExtra: true },
          { name: 'Role', of: ({ role }) => <Badge tone={role === 'admin' ? 'busy' : 'plain'}>{role}</Badge> },
          { name: 'Since', of: ({ created_at }) => date(created_at), isExtra: true },
        ]}
        actions={[
          {
            icon: 'edit',
            label: ({ username }) => `Edit ${username}`,
            work: (user) => setOpen({ kind: 'edit', user }),
          },
          {
            icon: 'lock',
            label: ({ username }) => `Reset the password of ${username}`,
            work: (user) => setOpen({ kind: 'reset', user }),
          },
          {
            icon: 'trash',
            label: ({ username }) => `Delete ${username}`,
            work: ({ id }) => ask('DELETE', path`/api/users/${id}`),
            confirm: [
              'Delete',
              () => 'Their personas, memories, conversations and keys are deleted with them, for good.',
            ],
          },
        ]}
      >
        <input
          class="input"
          type="search"
          aria-label="Search the users"
          placeholder="Search by name or e-mail"
          value={query}
          onInput={({ currentTarget }) => {
            setQuery(currentTarget.value)
            setOffset(0)
          }}
        />
      </Listing>
      <Pager offset={offset} size={pageSize} hasMore={offset + pageSize < total} onOffset={setOffset} />
      {open?.kind === 'new' && <UserDialog onClose={close} onSaved={data.reload} />}
      {open?.kind === 'edit' && <UserDialog user={open.user} onClose={close} onSaved={data.reload} />}
      {open?.kind === 'reset' && <ResetDialog user={open.user} onClose={close} />}
    </Page>
  )
}
