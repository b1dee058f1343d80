import type { Command } from 'commander'
import { parseJson } from '../../formats/json.ts'
import { type Cli, note, parseCount, show, table } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'

/** `aichat persona state|adapt|undo`: what a persona has learned, and taking it back. */
export function addPersonaStateCommands(persona: Command, cli: Cli): void {
  persona
    .command('state <id>')
    .description('show what a persona has learned, or with --log how it came to it')
    .option('--log', 'list the records instead, newest first')
    .option('-n, --limit <count>', 'how many records', parseCount, 20)
    .action(async (id: string, options: { log?: boolean; limit: number }) => {
      const { showState, listAdaptations } = await operations()
      if (!options.log) return show(cli, await cli.ask(showState, { id }), stateText)
      const log = await cli.ask(listAdaptations, { id, limit: options.limit })
      await show(cli, log, ({ records }) =>
        table(cli, records, [
          ['RECORD', (record) => record.id],
          ['TIME', (record) => new Date(record.timestamp).toISOString().slice(0, 16).replace('T', ' ')],
          ['TYPE', (record) => record.adaptation_type],
          ['TRIGGER', (record) => record.trigger_event],
          ['', (record) => (record.undone_by ? 'undone' : record['status'] === 'proposed' ? 'proposed' : '')],
          ['CHANGES', (record) => changesText(record.changes)],
        ]),
      )
    })

  persona
    .command('adapt <id>')
    .description('tell a persona to adapt, or answer what it proposes')
    .requiredOption('--type <type>', 'such as weight_adjusted, preference_set, trait_pinned, state_reset')
    .requiredOption('--trigger <event>', 'such as explicit_instruction, feedback_positive')
    .requiredOption('--changes <json>', '[{"trait":…,"target":-1…1}], [{"preference":…,"value":…}], or - for stdin')
    .option('--key <key>', 'the same key twice is one record')
    .action(async (id: string, options: { type: string; trigger: string; changes: string; key?: string }) => {
      const text = options.changes === '-' ? (await readStdin(cli)).toString('utf8') : options.changes
      const adapted = await cli.ask((await operations()).adaptPersona, {
        id,
        adaptation_type: options.type,
        trigger_event: options.trigger,
        changes: parseJson(text, '--changes') as never,
        ...(options.key !== undefined && { idempotency_key: options.key }),
      })
      await show(cli, adapted, ({ record }) => recordText(record))
    })

  persona
    .command('undo <id> <record>')
    .description('take a record back as if it had never been; later ones stay')
    .action(async (id: string, record: string) => {
      const undone = await cli.ask((await operations()).adaptPersona, {
        id,
        adaptation_type: 'rollback',
        trigger_event: 'manual_request',
        changes: [{ record }],
      })
      await show(cli, undone, ({ record: made }) => recordText(made))
      note(cli, `aichat: persona undo ${id} ${undone.record.id} brings it back`)
    })
}

/** The contract's operations, loaded when the first command asks for them. */
function operations() {
  return import('../../operations/adaptation.ts')
}

interface StateShown {
  readonly enabled: boolean
  readonly adaptation_level: number
  readonly sensitivity: string
  readonly records: number
  readonly behavioral_weights: Readonly<Record<string, number>>
  readonly pinned_traits: readonly string[]
  readonly learned_preferences: Readonly<Record<string, { value?: unknown; confidence: number; source: string }>>
}

function stateText(state: StateShown): string {
  const weights = Object.entries(state.behavioral_weights).map(
    ([name, weight]) => `  ${name}: ${signed(weight)}${state.pinned_traits.includes(name) ? ' (set)' : ''}`,
  )
  const preferences = Object.entries(state.learned_preferences).map(
    ([name, { value, confidence, source }]) =>
      `  ${name}: ${JSON.stringify(value)} (${source}, ${confidence.toFixed(2)})`,
  )
  return [
    `level ${state.adaptation_level.toFixed(3)}, sensitivity ${state.sensitivity}, ${state.records} records`,
    ...(state.enabled ? [] : ['adaptation is switched off: the state is frozen']),
    ...(weights.length > 0 ? ['weights', ...weights] : []),
    ...(preferences.length > 0 ? ['preferences', ...preferences] : []),
  ].join('\n')
}

interface RecordShown {
  readonly id: string
  readonly changes?: unknown
}

function recordText({ id, changes }: RecordShown): string {
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

interface EffectShown {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly reason?: string
}

/** The effects of a record; one of another program has changes of its own shape. */
function effectsOf(changes: unknown): readonly EffectShown[] {
  return Array.isArray(changes) ? changes.filter((change) => typeof change?.path === 'string') : []
}

function signed(weight: number): string {
  return `${weight > 0 ? '+' : ''}${weight.toFixed(3)}`
}
