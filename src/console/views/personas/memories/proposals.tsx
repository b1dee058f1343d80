import { Button } from '../../../components/button.tsx'
import { Problem } from '../../../components/notice.tsx'
import { Section } from '../../../components/page.tsx'
import { Time } from '../../../components/time.tsx'
import { tell } from '../../../components/toasts.tsx'
import { count, percent } from '../../../page/format.ts'
import { ask, path } from '../../../wire/client.ts'
import type { Persona, Proposal } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { useData } from '../../../wire/use-data.ts'

interface ProposalsProps {
  readonly persona: Persona
  readonly onAccepted: () => void
}

/** Proposals that are shown at once; the next ones follow when these are answered. */
const mostShown = 5

/** The facts that the persona's model would remember: each waits for an answer. Shows nothing where none waits. */
export function Proposals({ persona, onAccepted }: ProposalsProps) {
  const base = path`/api/personas/${persona.id}/memory/proposals`
  const data = useData<{ proposals: readonly Proposal[]; total: number }>(
    (signal) => ask('GET', base, { query: { limit: mostShown }, signal }),
    [persona.id],
  )
  const answer = useAction(async ({ id }: Proposal, kind: 'accept' | 'reject') => {
    try {
      await ask('POST', `${base}/${encodeURIComponent(id)}/${kind}`, { body: {} })
      tell(kind === 'accept' ? 'Remembered' : 'Rejected; it is not proposed again')
      if (kind === 'accept') onAccepted()
    } finally {
      data.reload()
    }
  })
  const { proposals = [], total = 0 } = data.value ?? {}
  const problem = data.problem ?? answer.problem
  if (total === 0 && !problem) return null
  return (
    <Section title={`Proposed memories (${count(total)})`}>
      <Problem of={problem} />
      <ul class="found">
        {proposals.map((proposal) => (
          <li key={proposal.id} class="row between">
            <div class="grow">
              <p class="text">{proposal.content}</p>
              <p class="row muted">
                <span class="line">{proposal.model}</span>
                <span>sure to {percent(proposal.confidence)}</span>
                <Time at={proposal.created_at} />
              </p>
            </div>
            <span class="buttons">
              <Button icon="check" isBusy={answer.isRunning} onClick={() => void answer.run(proposal, 'accept')}>
                Accept
              </Button>
              <Button isBusy={answer.isRunning} onClick={() => void answer.run(proposal, 'reject')}>
                Reject
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {total > proposals.length && <p class="muted">The newest {count(proposals.length)} are shown.</p>}
    </Section>
  )
}
