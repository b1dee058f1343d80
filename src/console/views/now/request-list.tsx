import { numberColumn, timeColumn } from '../../components/columns.tsx'
import { Empty } from '../../components/notice.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, duration } from '../../page/format.ts'
import { linkTo } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import type { FollowedRequest } from '../../wire/types.ts'
import { RequestState } from './request-state.tsx'

/** Requests in a table; each leads to its story. */
export function RequestList({
  requests,
  isLoading,
}: {
  readonly requests: readonly FollowedRequest[]
  readonly isLoading: boolean
}) {
  const { isAdmin } = useSession()
  if (requests.length === 0 && !isLoading)
    return (
      <Empty title="No request since the service began">
        <p>
          <a href={linkTo('chat')}>Ask something</a>, or let a program with an{' '}
          <a href={linkTo('usage', 'keys')}>API key</a> do so. Earlier requests are in the{' '}
          <a href={linkTo('usage', 'requests')}>log</a>.
        </p>
      </Empty>
    )
  const columns: readonly Column<FollowedRequest>[] = [
    { name: 'State', of: (request) => <RequestState request={request} /> },
    {
      name: 'Model',
      of: (request) => (
        <a class="line" href={linkTo('now', request.id)}>
          {modelOf(request)}
        </a>
      ),
    },
    ...(isAdmin ? [{ name: 'Caller', of: callerOf, isExtra: true }] : []),
    { name: 'Persona', of: ({ persona }) => <span class="line">{persona}</span>, isExtra: true },
    {
      name: 'Tokens',
      of: ({ output_tokens, estimated }) => `${estimated && output_tokens > 0 ? '≈ ' : ''}${count(output_tokens)}`,
      isNumber: true,
    },
    numberColumn('First token', ({ first_content_ms: ms }) => ms, duration, { isExtra: true }),
    numberColumn('Time', ({ duration_ms }) => duration_ms, duration, { isExtra: true }),
    timeColumn('Begun', ({ started_at }) => started_at, '', { isExtra: true }),
  ]
  return (
    <Table
      caption="Requests under way and the last ones that ended"
      rows={requests}
      keyOf={({ id }) => id}
      columns={columns}
    />
  )
}

/** The model that answers or was asked last, else as the caller named it. */
export function modelOf({ place, asked_model, purpose }: FollowedRequest): string {
  return place?.model ?? asked_model ?? purpose
}

function callerOf({ username, key_name }: FollowedRequest) {
  return (
    <span class="line">
      {username ?? 'a removed user'}
      {key_name !== null && <span class="muted"> by {key_name}</span>}
    </span>
  )
}
