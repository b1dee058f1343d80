import { counted, parseJson } from '../../formats/formats.ts'
import { adaptPersona, listAdaptations, type OutputOf, showState } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { readStdinText } from '../terminal/stdin.ts'
import { listing } from '../terminal/table.ts'
import { timeText } from '../terminal/times.ts'

export async function state(cli: Cli, id: string, { log }: { log?: boolean }): Promise<void> {
  if (!log) return print(cli, await cli.ask(showState, { id }), stateText)
  await print(cli, await cli.ask(listAdaptations, { ...fieldsOf(cli, listAdaptations), id }), ({ records }) =>
    listing(cli, records, 'no adaptation records yet', [
      ['RECORD', (record) => record.id],
      ['TIME', (record) => timeText(cli, record.timestamp)],
      ['TYPE', (record) => record.adaptation_type],
      ['TRIGGER', (record) => record.trigger_event],
      ['', (record) => (record.undone_by ? 'undone' : record['status'] === 'proposed' ? 'proposed' : '')],
      ['CHANGES', (record) => changesText(record.changes)],
    ]),
  )
}

export async function adapt(cli: Cli, id: string, { changes }: { changes: string }): Promise<void> {
  const text = changes === '-' ? await readStdinText(cli) : changes
  const adapted = await cli.ask(adaptPersona, {
    ...fieldsOf(cli, adaptPersona),
    id,
    changes: parseJson(text, '--changes') as never,
  })
  await print(cli, adapted, ({ record }) => recordText(record))
  for (const { path, reason = '' } of effectsOf(adapted.record.changes))
    if (reason.includes('not moved: '))
      note(cli, `aichat: ${path.split('/').at(-1)} is ${reason.replace(/^\w+: /, '')}`)
}

export async function undo(cli: Cli, id: string, record: string): Promise<void> {
  const undone = await cli.ask(adaptPersona, {
    id,
    adaptation_type: 'rollback',
    trigger_event: 'manual_request',
    changes: [{ record }],
  })
  await print(cli, undone, ({ record: rollback }) => recordText(rollback))
  note(cli, `aichat: to redo it: aichat persona undo ${id} ${undone.record.id}`)
}

function stateText(state: OutputOf<typeof showState>): string {
  const weights = Object.entries(state.behavioral_weights).map(
    ([name, weight]) => `  ${name}: ${signed(weight)}${state.pinned_traits.includes(name) ? ' (set)' : ''}`,
  )
  const preferences = Object.entries(state.learned_preferences).map(
    ([name, { value, confidence, source }]) =>
      `  ${name}: ${JSON.stringify(value)} (${source}, ${confidence.toFixed(2)})`,
  )
  return [
    `level ${state.adaptation_level.toFixed(3)}, sensitivity ${state.sensitivity}, ${counted(state.records, 'record')}`,
    ...(state.enabled ? [] : ['adaptation is off: the state does not change']),
    ...(weights.length > 0 ? ['weights', ...weights] : []),
    ...(preferences.length > 0 ? ['preferences', ...preferences] : []),
  ].join('\n')
}

interface RecordView {
  readonly id: string
  readonly changes?: unknown
}

function recordText({ id, changes }: RecordView): string {
  const lines = effectsOf(changes).map(
    ({ path, before, after, reason }) => `  ${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}  ${reason}`,
  )
  return [id, ...lines].join('\n')
}

function changesText(changes: unknown): string {
  return effectsOf(changes)
    .map(({ path, after }) => `${path.split('/').slice(2).join('/')} ${JSON.stringify(after)}`)
    .join(', ')
}

interface EffectView {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly reason?: string
}

/** The effects of a record; imported records may have changes of another shape. */
function effectsOf(changes: unknown): readonly EffectView[] {
  return Array.isArray(changes) ? changes.filter((change) => typeof change?.path === 'string') : []
}

function signed(weight: number): string {
  return `${weight > 0 ? '+' : ''}${weight.toFixed(3)}`
}
