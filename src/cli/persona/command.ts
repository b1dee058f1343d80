import { type Command, InvalidArgumentError, Option } from 'commander'
import type { PersonaView } from '../../personas/persona.ts'
import { type Cli, confirm, note, parseNumber, show, table } from '../terminal/cli.ts'
import { addPersonaMemoryCommands } from './memory-command.ts'
import { addPersonaPackageCommands } from './package-command.ts'
import { addPersonaStateCommands } from './state-command.ts'

interface PersonaOptions {
  readonly name?: string
  readonly model?: string
  readonly description?: string
  readonly prompt?: string
  readonly embeddingModel?: string
  readonly parameter?: Readonly<Record<string, unknown>>
  readonly memory?: boolean
  readonly maxMemories?: number
  readonly retentionDays?: number
  readonly autoCleanup?: boolean
  readonly mutation?: 'low' | 'medium' | 'high' | 'off'
  readonly autoAdapt?: boolean
}

/** `aichat persona …`: characters with a model, settings and a memory. */
export function addPersonaCommands(program: Command, cli: Cli): void {
  const persona = program.command('persona').description('manage personas, their memories and what they learn')

  persona
    .command('list')
    .description('list your personas')
    .action(async () => {
      const listed = await cli.ask((await operations()).listPersonas, {})
      await show(cli, listed, ({ personas }) =>
        table(cli, personas, [
          ['ID', (row) => row.id],
          ['NAME', (row) => row.name],
          ['MODEL', (row) => row.model],
          ['MEMORY', (row) => (row.memory_settings.enabled ? `up to ${row.memory_settings.max_memories}` : 'off')],
          ['ADAPTS', (row) => (row.mutation_settings.enabled ? row.mutation_settings.sensitivity : 'off')],
        ]),
      )
    })

  persona
    .command('show <id>')
    .description('show a persona, by its id or its name')
    .action(async (id: string) => {
      await show(cli, await cli.ask((await operations()).showPersona, { id }), block)
    })

  withSettings(persona.command('create').description('create a persona'))
    .requiredOption('--name <name>', 'its name')
    .requiredOption('-m, --model <model>', 'the model that speaks for it, or plugin:model')
    .action(async (options: PersonaOptions & { name: string; model: string }) => {
      const { name, model } = options
      const created = await cli.ask((await operations()).createPersona, { ...fields(options), name, model })
      await show(cli, created, ({ id }) => id)
    })

  withSettings(persona.command('update <id>').description('change a persona; what is not named stays'))
    .option('--name <name>', 'its name')
    .option('-m, --model <model>', 'the model that speaks for it')
    .action(async (id: string, options: PersonaOptions) => {
      const updated = await cli.ask((await operations()).updatePersona, { id, ...fields(options) })
      await show(cli, updated, (view) => view.id)
    })

  persona
    .command('remove <id...>')
    .alias('rm')
    .description('remove personas with everything they remember')
    .action(async (ids: string[]) => {
      const { removePersona, showPersona } = await operations()
      const found = await Promise.all(ids.map((id) => cli.ask(showPersona, { id })))
      await confirm(cli, `Remove ${found.map(({ name }) => name).join(', ')} with all memories?`)
      const removed: { id: string; removed: true }[] = []
      for (const { id } of found) removed.push(await cli.ask(removePersona, { id }))
      await show(cli, removed.length === 1 ? removed[0] : { personas: removed }, () =>
        removed.map(({ id }) => id).join('\n'),
      )
      note(cli, `aichat: removed ${found.map(({ name }) => name).join(', ')}`)
    })

  addPersonaMemoryCommands(persona, cli)
  addPersonaStateCommands(persona, cli)
  addPersonaPackageCommands(persona, cli)
}

function withSettings(command: Command): Command {
  return command
    .option('--description <text>', 'what it is')
    .option('--prompt <text>', 'its system prompt')
    .option('--embedding-model <model>', 'the model that finds memories by meaning; see models embeddings')
    .option('--parameter <name=value>', 'a field of its requests, such as temperature=0.3 (repeatable)', parameter)
    .option('--memory', 'remember what is said in chat')
    .option('--no-memory', 'neither remember nor look into memories in chat')
    .option('--max-memories <count>', 'the most memories', parseNumber)
    .option('--retention-days <days>', 'how long a memory is kept', parseNumber)
    .option('--auto-cleanup', 'remove what is too old or too many')
    .option('--no-auto-cleanup', 'keep everything, and refuse what is too many')
    .addOption(
      new Option('--mutation <sensitivity>', 'how readily it adapts').choices(['low', 'medium', 'high', 'off']),
    )
    .option('--auto-adapt', 'let chat adapt it')
    .option('--no-auto-adapt', 'adapt only when told to')
}

/** The operation's fields for the flags that were given. */
function fields(options: PersonaOptions) {
  const { name, model, description, prompt, embeddingModel, parameter: parameters, mutation } = options
  const memory = given({
    enabled: options.memory,
    max_memories: options.maxMemories,
    auto_cleanup: options.autoCleanup,
    retention_days: options.retentionDays,
  })
  const adapting = given({
    enabled: mutation === undefined ? undefined : mutation !== 'off',
    sensitivity: mutation === 'off' ? undefined : mutation,
    auto_adapt: options.autoAdapt,
  })
  return {
    ...given({ name, model, description, parameters }),
    ...given({ system_prompt: prompt, embedding_model: embeddingModel }),
    ...(Object.keys(memory).length > 0 && { memory_settings: memory }),
    ...(Object.keys(adapting).length > 0 && { mutation_settings: adapting }),
  }
}

function given<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never
}

/** `temperature=0.3`: JSON where it is some, else text. */
function parameter(text: string, before: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it as name=value.')
  const raw = text.slice(at + 1)
  let value: unknown = raw
  try {
    value = JSON.parse(raw)
  } catch {
    // Plain text stands for itself.
  }
  return { ...before, [text.slice(0, at)]: value }
}

function operations() {
  return import('../../operations/personas.ts')
}

function block(persona: PersonaView): string {
  const { memory_settings: memory, mutation_settings: mutation } = persona
  const cleanup = memory.auto_cleanup ? `kept ${memory.retention_days} days` : 'kept for good'
  const lines: [string, string | undefined][] = [
    ['id', persona.id],
    ['name', persona.name],
    ['model', persona.model],
    ['description', persona.description],
    ['prompt', persona.system_prompt],
    ['parameters', Object.keys(persona.parameters).length > 0 ? JSON.stringify(persona.parameters) : undefined],
    ['embeddings', persona.embedding_model ?? 'builtin'],
    ['memory', `${memory.enabled ? 'on' : 'off'} in chat; up to ${memory.max_memories}, ${cleanup}`],
    [
      'adaptation',
      `${mutation.enabled ? 'on' : 'off'} in chat; ${mutation.sensitivity}${mutation.auto_adapt ? ', by itself' : ''}`,
    ],
  ]
  return lines.flatMap(([label, value]) => (value ? `${label.padEnd(14)}${value}` : [])).join('\n')
}
