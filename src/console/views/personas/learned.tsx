import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Empty, Problem } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { Tile } from '../../components/tile.tsx'
import { Time } from '../../components/time.tsx'
import { tell } from '../../components/toasts.tsx'
import { decimal, percent } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import type { AdaptationRecord, Persona, PersonaState } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData, useList } from '../../wire/use-data.ts'
import { changesOf } from './changes.ts'

type Answer = 'rollback' | 'proposal_accepted' | 'proposal_declined'

/** The things that a persona has learned, with their times; each step can be undone. */
export function Learned({ persona }: { readonly persona: Persona }) {
  const state = useData<PersonaState>((signal) => ask('GET', path`/api/personas/${persona.id}/state`, { signal }), [])
  const log = useList<AdaptationRecord>(path`/api/personas/${persona.id}/state/adaptation`, 'records')
  const answer = useAction(async (record: AdaptationRecord, kind: Answer) => {
    await ask('POST', path`/api/personas/${persona.id}/state/adaptation`, {
      body: { adaptation_type: kind, trigger_event: 'manual_request', changes: [{ record: record.id }] },
    })
    tell(kind === 'rollback' ? 'Undone' : kind === 'proposal_accepted' ? 'Accepted' : 'Declined')
    state.reload()
    log.reload()
  })
  return (
    <>
      <Problem of={state.problem ?? log.problem ?? answer.problem} />
      {state.value && <StateTiles state={state.value} />}
      <Section title="Timeline">
        {log.value?.length === 0 && (
          <Empty title="Nothing learned yet">
            <p>It learns from what you tell it in chats, when learning is switched on.</p>
          </Empty>
        )}
        <ol class="steps">
          {log.value?.map((record) => (
            <li key={record.id} class={record.undone_by === undefined ? 'good' : ''}>
              <div class="row between">
                <strong>{record.adaptation_type.replaceAll('_', ' ')}</strong>
                <RecordAnswers
                  record={record}
                  isBusy={answer.isRunning}
                  onAnswer={(kind) => void answer.run(record, kind)}
                />
              </div>
              {changesOf(record.changes).map((line) => (
                <span key={line} class="text">
                  {line}
                </span>
              ))}
              <span class="muted">
                <Time at={record.timestamp} />, after {record.trigger_event.replaceAll('_', ' ')}
              </span>
            </li>
          ))}
        </ol>
      </Section>
    </>
  )
}

interface RecordAnswersProps {
  readonly record: AdaptationRecord
  readonly isBusy: boolean
  readonly onAnswer: (kind: Answer) => void
}

/** The actions for a record. */
function RecordAnswers({ record, isBusy, onAnswer }: RecordAnswersProps) {
  if (record.undone_by !== undefined) return <Badge>undone</Badge>
  if (record['status'] === 'proposed')
    return (
      <span class="row">
        <Button kind="main" isBusy={isBusy} onClick={() => onAnswer('proposal_accepted')}>
          Accept
        </Button>
        <Button isBusy={isBusy} onClick={() => onAnswer('proposal_declined')}>
          Decline
        </Button>
      </span>
    )
  return (
    <Button icon="undo" isBusy={isBusy} onClick={() => onAnswer('rollback')}>
      {record.adaptation_type === 'rollback' ? 'Redo' : 'Undo'}
    </Button>
  )
}

function StateTiles({ state }: { readonly state: PersonaState }) {
  const weights = Object.entries(state.behavioral_weights)
  const preferences = Object.entries(state.learned_preferences)
  return (
    <div class="tiles">
      <Tile
        name={<>Adaptation {state.frozen && <Badge>frozen</Badge>}</>}
        figure={percent(state.adaptation_level)}
        note={`sensitivity ${state.sensitivity}`}
      />
      <div class="tile">
        <p class="name">Traits</p>
        {weights.length === 0 && <p class="muted">none yet</p>}
        {weights.map(([trait, weight]) => (
          <p key={trait} class="row between">
            <span class="line">{trait}</span>
            <span>{decimal(weight)}</span>
          </p>
        ))}
      </div>
      <div class="tile">
        <p class="name">Preferences</p>
        {preferences.length === 0 && <p class="muted">none yet</p>}
        {preferences.map(([name, { value, established }]) => (
          <p key={name} class="row between">
            <span class="line">{name}</span>
            <span class={established ? 'line' : 'line muted'}>
              {typeof value === 'string' ? value : JSON.stringify(value)}
            </span>
          </p>
        ))}
      </div>
    </div>
  )
}
