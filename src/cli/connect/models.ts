import type { z } from 'zod'
import { personaPrefix } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { listChatModels, listPersonas, serviceStatus } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import type { OfferedModel } from './clients.ts'

type ListedModel = z.output<typeof listChatModels.output>['models'][number]

/** The models that a client is given by hand when none is named: more of them fill its menus. */
const mostListed = 40

export interface ModelChoice {
  /** The first is the one to start with. */
  readonly model?: readonly string[]
  readonly persona?: string
}

/** The models that a client is to offer, the one to start with first; never empty. Throws `configuration` where there is none. */
export async function chooseModels(cli: Cli, { model = [], persona }: ModelChoice): Promise<readonly OfferedModel[]> {
  if (persona !== undefined && model.length > 0)
    throw new AppError('usage', 'Use either --model or --persona: a persona has a model of her own')
  const { models } = await cli.ask(listChatModels, {})
  if (persona !== undefined) return [await personaModel(cli, models, persona)]
  // The list names models of the active plugin and of this machine without a prefix; a chat takes them with one too.
  const names = ({ id, plugin }: ListedModel) => [`${plugin ?? 'local'}:${id}`, id]
  const known = new Map(models.flatMap((each) => names(each).map((id) => [id, each] as const)))
  for (const id of model)
    if (models.length > 0 && !known.has(id) && !id.startsWith(personaPrefix))
      note(cli, `aichat: ${id} is not in the list of models; it is used as it is`)
  if (model.length > 0) return model.map((id) => offered({ ...known.get(id), id }))
  const first = await usualModel(cli, models)
  const rest = models.filter(({ id }) => id !== first)
  if (rest.length > mostListed)
    note(cli, `aichat: ${rest.length} more models can be named: add --model for each that the client is to list`)
  return [known.get(first) ?? { id: first }, ...(rest.length > mostListed ? [] : rest)].map(offered)
}

/** The model of a chat that names none. */
async function usualModel(cli: Cli, models: readonly ListedModel[]): Promise<string> {
  const usual = (await cli.settings()).model ?? (await activeModel(cli)) ?? models[0]?.id
  if (usual !== undefined) return usual
  throw new AppError('configuration', 'There is no model yet that could answer', {
    details: ['`aichat status` shows how to get one', 'or name one: --model MODEL'],
  })
}

async function activeModel(cli: Cli): Promise<string | undefined> {
  return (await cli.ask(serviceStatus, {})).active_plugin?.model
}

async function personaModel(cli: Cli, models: readonly ListedModel[], wanted: string): Promise<OfferedModel> {
  const { personas } = await cli.ask(listPersonas, {})
  const named = personas.filter(({ id, name }) => id === wanted || name === wanted)
  const [persona] = named
  if (!persona || named.length > 1)
    throw new AppError(
      persona ? 'usage' : 'not_found',
      `${persona ? 'Several personas are' : 'No persona is'} named "${wanted}"`,
      {
        details:
          named.length > 1
            ? ['Name her by her id: aichat persona list']
            : [`There are: ${personas.map(({ name }) => name).join(', ') || 'none'}`],
      },
    )
  const facts = offered(models.find(({ id }) => id === persona.model) ?? { id: persona.model })
  const isAlone = personas.filter(({ name }) => name === persona.name).length === 1
  return { ...facts, id: `${personaPrefix}${isAlone ? persona.name : persona.id}`, name: persona.name }
}

function offered({
  id,
  display_name,
  context_window,
  max_output,
  images,
  tools,
  thinking,
  temperature,
}: Partial<ListedModel> & { id: string }): OfferedModel {
  const facts = { context: context_window, longestAnswer: max_output, images, tools, thinking, temperature }
  return { id, name: display_name ?? id, ...facts }
}
