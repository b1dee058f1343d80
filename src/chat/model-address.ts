import { AppError } from '../errors.ts'
import { nearestName } from '../formats/formats.ts'
import { type PluginManifest, pluginNotFound, reservedPrefixes } from '../plugins/plugins.ts'

/** The name or id in `persona:NAME`, trimmed; undefined for any other model. Throws `invalid` where none is named. */
export function personaIn(model: string | null | undefined): string | undefined {
  if (!model?.startsWith(personaPrefix)) return undefined
  const name = model.slice(personaPrefix.length).trim()
  if (name !== '') return name
  throw new AppError('invalid', 'Invalid chat request', {
    details: [`model: ${personaPrefix} must be followed by the name or id of a persona`],
  })
}

export const personaPrefix = 'persona:'

/** A model with a part before its first colon that looks like the name of a plugin, one that is not installed. */
export interface UnknownPlugin {
  /** The failure, for a model that no local runner has. */
  readonly error: AppError
  /** The remark for a chat that takes it as the name of a model. */
  readonly remark: string
  /** True where no other meaning of the name is likely; such a model is asked nowhere. */
  readonly isCertain: boolean
}

/** Programs that run models, as their users name them. A beginning without its `.`, `-` and `_` is compared. */
const runners = new Set(
  'ollama ollamachat lmstudio llamacpp llamaserver llamafile localai localhost vllm koboldcpp gpt4all'.split(' '),
)

/** Those that are recognised when misspelt: words near the others are names of models, such as `llama`. */
const misspeltRunners = ['ollama', 'lmstudio']

/**
 * Examines a model that no installed plugin's id begins. Models have colons of their own (`llama3:8b`, `mixtral:8x7b`), so
 * a beginning counts as a plugin's only where it is nearly the id of one, or where the rest is a model of one's list. One
 * that is nearly `local` or `persona`, or a runner's name, is certainly none; nor is one of these words alone, or before
 * another sign than a colon, as other programs write it (`ollama/llama3`), where no plugin lists that model.
 */
export function unknownPlugin(model: string, plugins: readonly PluginManifest[]): UnknownPlugin | undefined {
  const misaddressed = wordOfThisMachine(model, plugins)
  if (misaddressed) return misaddressed
  const colon = model.indexOf(':')
  const beginning = model.slice(0, Math.max(0, colon))
  const rest = model.slice(colon + 1)
  if (beginning === '' || reservedPrefixes.has(beginning)) return undefined
  const ids = plugins.map(({ id }) => id)
  const word = beginning.toLowerCase()
  const initial = misspeltRunners.filter((name) => name[0] === word[0])
  const near =
    runners.has(bare(word)) && !ids.includes(word)
      ? 'local'
      : nearestName(beginning, [...ids, ...reservedPrefixes, ...initial])
  const owner = plugins.find(({ model_map }) => model_map.includes(rest))
  if (near === undefined && owner === undefined) return undefined
  const meant = near ?? owner!.id
  const named = plugins.find(({ id }) => id === meant)
  if (!named) {
    return certain(beginning, ids, `${meant === 'persona' ? meant : 'local'}:${rest}`)
  }
  if (rest === '') return undefined
  const error = pluginNotFound(beginning, ids)
  return {
    error: new AppError('not_found', error.message, {
      details: [`For that model: ${meant}:${rest}`, ...error.details],
    }),
    remark: `${model} is taken as the name of a model: plugin ${beginning} not found; did you mean ${meant}:${rest}?`,
    isCertain:
      owner !== undefined || meant === word || named.model_map.some((name) => firstWord(name) === firstWord(rest)),
  }
}

/** A model that is `local`, `persona` or a runner's name, alone or before a sign that is no colon. */
function wordOfThisMachine(model: string, plugins: readonly PluginManifest[]): UnknownPlugin | undefined {
  const [, beginning = '', sign = '', rest = ''] = /^([^:/@+~]*)(.?)(.*)$/s.exec(model) ?? []
  const word = beginning.trim().toLowerCase()
  const isReserved = reservedPrefixes.has(word)
  if (sign === ':' || !(isReserved || runners.has(bare(word)))) return undefined
  if (plugins.some(({ model_map }) => model_map.includes(model))) return undefined
  const ids = plugins.map(({ id }) => id)
  const meant = ids.includes(word) || word === 'persona' ? word : 'local'
  return certain(beginning, ids, `${meant}:${rest}`)
}

function certain(beginning: string, ids: readonly string[], address: string): UnknownPlugin {
  return { error: pluginNotFound(beginning, ids, address), remark: '', isCertain: true }
}

/** A word without the signs that writers leave out or put in: `llama.cpp`, `LM-Studio`. */
function bare(word: string): string {
  return word.replace(/[\s._-]/g, '')
}

/** `gpt` of `gpt-4o`, empty for a tag such as `8b`. */
function firstWord(name: string): string {
  return /^[a-z]{2,}/i.exec(name)?.[0].toLowerCase() ?? name
}
