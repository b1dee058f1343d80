import { Badge, type Tone } from '../../components/badge.tsx'
import type { FollowedRequest } from '../../wire/types.ts'

const tones: Readonly<Record<FollowedRequest['state'], Tone>> = {
  asking: 'busy',
  answering: 'busy',
  answered: 'good',
  failed: 'bad',
  broken: 'bad',
  cancelled: 'plain',
}

/** The state of a request, and whether another place answered than the first. */
export function RequestState({ request: { state, attempts } }: { readonly request: FollowedRequest }) {
  const fellBack = attempts.some(({ outcome }) => outcome === 'failed') && state !== 'failed'
  return (
    <span class="row">
      <Badge tone={tones[state]}>{state}</Badge>
      {fellBack && <Badge tone="warning">fell back</Badge>}
    </span>
  )
}
