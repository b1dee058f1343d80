import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Table } from '../../components/table.tsx'
import { count, date } from '../../page/format.ts'
import type { ViewProps } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask, path } from '../../wire/client.ts'
import type { User } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { ResetDialog } from './reset-dialog.tsx'
import { UserDialog } from './user-dialog.tsx'

type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'reset' | 'remove'; readonly user: User }

/** Users of one page. */
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
  const { users = [], total = 0 } = data.value ?? {}
  return (
    <Page
      title="Users"
      lead={data.value && (total === 1 ? '1 user' : `${count(total)} users`)}
      actions={
        <Button kind="main" icon="add" onClick={() => setOpen({ kind: 'new' })}>
          New user
        </Button>
      }
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
      <Problem of={data.problem} />
      <Table
        caption="Users"
        rows={users}
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
          {
            name: '',
            of: (user) => (
              <div class="buttons end nowrap">
                <Button icon="edit" label={`Edit ${user.username}`} onClick={() => setOpen({ kind: 'edit', user })} />
                <Button
                  icon="lock"
                  label={`Reset the password of ${user.username}`}
                  onClick={() => setOpen({ kind: 'reset', user })}
                />
                <Button
                  icon="trash"
                  label={`Delete ${user.username}`}
                  onClick={() => setOpen({ kind: 'remove', user })}
                />
              </div>
            ),
            isNumber: true,
          },
        ]}
      />
      <Pager offset={offset} size={pageSize} hasMore={offset + pageSize < total} onOffset={setOffset} />
      {open?.kind === 'new' && <UserDialog onClose={close} onSaved={data.reload} />}
      {open?.kind === 'edit' && <UserDialog user={open.user} onClose={close} onSaved={data.reload} />}
      {open?.kind === 'reset' && <ResetDialog user={open.user} onClose={close} />}
      {open?.kind === 'remove' && (
        <Confirm
          title={`Delete ${open.user.username}?`}
          submit="Delete"
          work={() => ask('DELETE', path`/api/users/${open.user.id}`)}
          onDone={data.reload}
          onClose={close}
        >
          Their personas, memories, conversations and keys are deleted with them, for good.
        </Confirm>
      )}
    </Page>
  )
}
