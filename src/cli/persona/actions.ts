import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import {
  createPersona,
  listPersonas,
  listPlugins,
  removePersona,
  showPersona,
  updatePersona,
} from '../../operations/operations.ts'
import type { PersonaView } from '../../personas/personas.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print, printRemoved } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { labelled, listing } from '../terminal/table.ts'
import { namedPersona } from './pick-persona.ts'

interface PersonaOptions {
  readonly mutation?: 'low' | 'medium' | 'high' | 'off'
}

export async function list(cli: Cli): Promise<void> {
  await print(cli, await cli.ask(listPersonas, {}), ({ personas }) =>
    listing(cli, personas, 'no personas yet; create one: aichat persona create NAME', [
      ['ID', (row) => row.id],
      ['NAME', (row) => row.name],
      ['MODEL', (row) => row.model],
      ['MEMORY', (row) => (row.memory_settings.enabled ? `up to ${row.memory_settings.max_memories}` : 'off')],
      ['ADAPTS', (row) => (row.mutation_settings.enabled ? row.mutation_settings.sensitivity : 'off')],
    ]),
  )
}

export async function show(cli: Cli, given?: string): Promise<void> {
  const id = await namedPersona(cli, given)
  await print(cli, await cli.ask(showPersona, { id }), personaText)
}

export async function create(cli: Cli, named: string | undefined, options: PersonaOptions): Promise<void> {
  const fields = withMutation(fieldsOf(cli, createPersona), options)
  const name = fields.name ?? named
  const model = fields.model ?? (await usualModelOf(cli))
  const missing = [
    ...(name === undefined ? ['Name the persona: aichat persona create NAME'] : []),
    ...(model === undefined ? ['Name its model with -m MODEL, or choose one for all chats: aichat setup'] : []),
  ]
  if (name === undefined || model === undefined)
    throw new AppError('usage', 'The persona was not created', { details: missing })
  const namesakes = (await cli.ask(listPersonas, {})).personas.filter((persona) => persona.name === name)
  await print(cli, await cli.ask(createPersona, { ...fields, name, model }), ({ id }) => id)
  if (namesakes.length > 0)
    note(
      cli,
      `aichat: warning: ${counted(namesakes.length, 'other persona')} of yours ${namesakes.length === 1 ? 'is' : 'are'} named ${name} (${namesakes.map(({ id }) => id).join(', ')}): use ids, or remove one: aichat persona remove ID`,
    )
}

/** The model that answers a question which names none: the setting's, else the active plugin's. */
async function usualModelOf(cli: Cli): Promise<string | undefined> {
  const { model } = await cli.settings()
  if (model !== undefined) return model
  const active = (await cli.ask(listPlugins, {})).plugins.find((plugin) => plugin.active)
  const usual = active?.default_model ?? active?.model_map[0]
  return usual === undefined ? undefined : `${active!.id}:${usual}`
}

export async function update(cli: Cli, id: string, options: PersonaOptions): Promise<void> {
  const fields = withMutation(fieldsOf(cli, updatePersona), options)
  await print(cli, await cli.ask(updatePersona, { ...fields, id }), (persona) => persona.id)
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

type MutationSettings = z.input<typeof createPersona.input>['mutation_settings']

/** The fields of a request with the speed of adaptation, which switches it on or off as well. */
function withMutation<F extends { readonly mutation_settings?: MutationSettings | null }>(
  fields: F,
  { mutation }: PersonaOptions,
): F {
  if (mutation === undefined) return fields
  const speed = mutation === 'off' ? { enabled: false } : { enabled: true, sensitivity: mutation }
  return { ...fields, mutation_settings: { ...fields.mutation_settings, ...speed } }
}

function personaText(persona: PersonaView): string {
  const { memory_settings: memory, mutation_settings: mutation } = persona
  const cleanup = memory.auto_cleanup ? `kept ${counted(memory.retention_days, 'day')}` : 'kept for good'
  const facts = memory.extract === 'off' ? '' : `; facts by its model`
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
