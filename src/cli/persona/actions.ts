import { counted } from '../../formats/counted.ts'
import { createPersona, listPersonas, removePersona, showPersona, updatePersona } from '../../operations/personas.ts'
import type { PersonaView } from '../../personas/persona.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print, printRemoved } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { confirm } from '../terminal/prompts.ts'
import { labelled, table } from '../terminal/table.ts'

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
  readonly memoryPlacement?: 'end' | 'system'
  readonly memoryFloor?: number
  readonly extract?: 'off' | 'manual' | 'auto'
  readonly extractConfidence?: number
  readonly autoCleanup?: boolean
  readonly mutation?: 'low' | 'medium' | 'high' | 'off'
  readonly autoAdapt?: boolean
  readonly mcp?: readonly string[]
}

export async function list(cli: Cli): Promise<void> {
  await print(cli, await cli.ask(listPersonas, {}), ({ personas }) =>
    table(
      cli,
      personas,
      [
        ['ID', (row) => row.id],
        ['NAME', (row) => row.name],
        ['MODEL', (row) => row.model],
        ['MEMORY', (row) => (row.memory_settings.enabled ? `up to ${row.memory_settings.max_memories}` : 'off')],
        ['ADAPTS', (row) => (row.mutation_settings.enabled ? row.mutation_settings.sensitivity : 'off')],
      ],
      'no personas yet; create one: aichat persona create --name NAME -m MODEL',
    ),
  )
}

export async function show(cli: Cli, id: string): Promise<void> {
  await print(cli, await cli.ask(showPersona, { id }), personaText)
}

export async function create(cli: Cli, options: PersonaOptions & { name: string; model: string }): Promise<void> {
  const { name, model } = options
  await print(cli, await cli.ask(createPersona, { ...fieldsOf(options), name, model }), ({ id }) => id)
}

export async function update(cli: Cli, id: string, options: PersonaOptions): Promise<void> {
  await print(cli, await cli.ask(updatePersona, { id, ...fieldsOf(options) }), (persona) => persona.id)
}

export async function remove(cli: Cli, ids: readonly string[]): Promise<void> {
  const found = await Promise.all(ids.map((id) => cli.ask(showPersona, { id })))
  const names = found.map(({ name }) => name).join(', ')
  await confirm(cli, `Remove ${names} with all memories?`)
  const removed: { id: string; removed: true }[] = []
  for (const { id } of found) removed.push(await cli.ask(removePersona, { id }))
  await printRemoved(cli, 'personas', removed)
  note(cli, `aichat: removed ${names}`)
}

/** The request fields of the options that were given. */
function fieldsOf(options: PersonaOptions) {
  const { name, model, description, prompt, embeddingModel, parameter: parameters, mutation } = options
  const memory = given({
    enabled: options.memory,
    max_memories: options.maxMemories,
    auto_cleanup: options.autoCleanup,
    retention_days: options.retentionDays,
    min_score: options.memoryFloor,
    extract: options.extract,
    extract_min_confidence: options.extractConfidence,
    placement: options.memoryPlacement,
  })
  const adapting = given({
    enabled: mutation === undefined ? undefined : mutation !== 'off',
    sensitivity: mutation === 'off' ? undefined : mutation,
    auto_adapt: options.autoAdapt,
  })
  return {
    ...given({ name, model, description, parameters, system_prompt: prompt, embedding_model: embeddingModel }),
    ...(options.mcp && { mcp_servers: [...options.mcp] }),
    ...(Object.keys(memory).length > 0 && { memory_settings: memory }),
    ...(Object.keys(adapting).length > 0 && { mutation_settings: adapting }),
  }
}

function personaText(persona: PersonaView): string {
  const { memory_settings: memory, mutation_settings: mutation } = persona
  const cleanup = memory.auto_cleanup ? `kept ${counted(memory.retention_days, 'day')}` : 'kept for good'
  const facts = memory.extract === 'off' ? '' : `; facts by its model: ${memory.extract}`
  const auto = mutation.auto_adapt ? ', by itself' : ''
  return labelled([
    ['id', persona.id],
    ['name', persona.name],
    ['model', persona.model],
    ['description', persona.description],
    ['nickname', persona.nickname],
    ['prompt', persona.system_prompt],
    ['behind the talk', persona.post_history_instructions],
    ['parameters', Object.keys(persona.parameters).length > 0 ? JSON.stringify(persona.parameters) : undefined],
    ['tools of', persona.mcp_servers?.join(', ')],
    ['embeddings', persona.embedding_model ?? 'builtin'],
    ['memory', `${memory.enabled ? 'on' : 'off'} in chat; up to ${memory.max_memories}, ${cleanup}${facts}`],
    ['adaptation', `${mutation.enabled ? 'on' : 'off'} in chat; ${mutation.sensitivity}${auto}`],
  ])
}
