import { AppError } from '../../errors.ts'

/** The parts of the API that a key can open. Accounts, keys, limits, plugins and settings are open to none. */
export const scopes = ['chat', 'embeddings', 'speech', 'models', 'personas', 'memory', 'usage'] as const

export type Scope = (typeof scopes)[number]

/** The scopes of a key that was made without a choice: the routes of OpenAI's and Anthropic's clients. */
export const defaultScopes: readonly Scope[] = ['chat', 'embeddings', 'speech', 'models']

/** The same of a key that is bound to personas: it reaches nothing else unless its owner opens more. */
export const boundScopes: readonly Scope[] = ['chat', 'models']

/** The rights of a call with an API key, within those of its owner. An absent list allows all. */
export interface KeyRights {
  readonly id: string
  readonly scopes: readonly Scope[]
  /** Patterns, see `permitsOf`. */
  readonly models?: readonly string[]
  /** Ids of plugins, and `local` for the models of this machine. */
  readonly plugins?: readonly string[]
  /** Ids of the owner's personas. */
  readonly personas?: readonly string[]
}

/** The name of this machine in the lists of plugins and models. */
export const localPlugin = 'local'

/** The place of an answer: a plugin's model, or one of this machine (`plugin` null). */
export interface KeyPlace {
  readonly plugin: string | null
  readonly model: string
}

export type Permits = (place: KeyPlace) => boolean

/** The scopes of a route: one, or several that are needed together. */
export type ScopeRule = Scope | readonly Scope[]

/** Throws `key_scope` unless the key has every scope of the rule; a route without a rule is closed to keys. */
export function requireScopes({ scopes: had }: KeyRights, rule: ScopeRule | undefined): void {
  if (rule === undefined)
    throw new AppError('key_scope', 'An API key may not do this', {
      details: ['No scope opens it: log in as a user, see aichat login'],
    })
  const missing =
    typeof rule === 'string' ? (had.includes(rule) ? [] : [rule]) : rule.filter((one) => !had.includes(one))
  if (missing.length > 0) throw missingScope(missing, had)
}

function missingScope(missing: readonly Scope[], had: readonly Scope[]): AppError {
  const names = missing.join(' and ')
  return new AppError('key_scope', `The API key lacks the scope ${names}`, {
    details: [`Its owner can add it: aichat key update ID --scope ${[...had, ...missing].join(',')}`],
  })
}

const permits = new WeakMap<KeyRights, Permits>()

/**
 * Whether a key may use a place; undefined where it may use all. A pattern of `models` with a colon is held against plugin
 * and model, each side of the first colon against its own (`openai:gpt-4o*`, `local:*`, `*:llama3:8b`); one without a colon
 * against the model alone. `*` stands for any characters, also none; capital letters count.
 */
export function permitsOf(rights: KeyRights | undefined): Permits | undefined {
  if (!rights?.models && !rights?.plugins) return undefined
  const known = permits.get(rights)
  if (known) return known
  const { plugins } = rights
  const patterns = rights.models?.map(patternOf)
  const made: Permits = ({ plugin, model }) => {
    const name = plugin ?? localPlugin
    if (plugins && !plugins.includes(name)) return false
    return patterns === undefined || patterns.some((fits) => fits(name, model))
  }
  permits.set(rights, made)
  return made
}

function patternOf(pattern: string): (plugin: string, model: string) => boolean {
  const { plugin, model } = splitPattern(pattern)
  const fitsModel = globOf(model)
  if (plugin === undefined) return (_, name) => fitsModel(name)
  const fitsPlugin = globOf(plugin)
  return (place, name) => fitsPlugin(place) && fitsModel(name)
}

/** The two sides of a pattern for models; without a colon there is no plugin. */
export function splitPattern(pattern: string): { readonly plugin: string | undefined; readonly model: string } {
  const colon = pattern.indexOf(':')
  if (colon < 0) return { plugin: undefined, model: pattern }
  return { plugin: pattern.slice(0, colon), model: pattern.slice(colon + 1) }
}

/** Throws `model_not_allowed` where the key may not use the place. */
export function requirePlace(permitted: Permits | undefined, place: KeyPlace): void {
  if (permitted && !permitted(place)) throw modelNotAllowed([place])
}

/** The failure of a call with a key that permits none of its places. */
export function modelNotAllowed(places: readonly KeyPlace[]): AppError {
  const names = [...new Set(places.map(({ plugin, model }) => `${plugin ?? localPlugin}:${model}`))]
  return new AppError('model_not_allowed', `The API key does not allow ${names.join(', ')}`, {
    details: ['GET /v1/models lists the models that it allows'],
  })
}

/**
 * Throws `key_scope` where a key may not chat as a persona, or in a conversation without one (undefined). It may with the
 * personas of its list; without a list, the scope `personas` opens all of them.
 */
export function requireChatPersona(rights: KeyRights | undefined, persona: string | undefined): void {
  if (!rights) return
  if (rights.personas) return requireListed(rights, persona)
  requireScopes(rights, 'personas')
}

/** Throws `key_scope` where a key is bound to personas and the chat is with none. */
export function requirePlainChat(rights: KeyRights | undefined): void {
  if (!rights?.personas) return
  throw new AppError('key_scope', 'The API key chats as its personas alone', {
    details: ['Ask for one as the model, persona:NAME; GET /v1/models lists them'],
  })
}

/** Whether a key may chat as a persona, as `requireChatPersona` decides. */
export function permitsPersona(rights: KeyRights | undefined, persona: string): boolean {
  if (!rights) return true
  return rights.personas ? rights.personas.includes(persona) : rights.scopes.includes('personas')
}

/** Throws `key_scope` for a persona that is not in the key's list, if it has one. */
export function requireListed({ personas }: KeyRights, persona: string | undefined): void {
  if (!personas || (persona !== undefined && personas.includes(persona))) return
  throw new AppError('key_scope', 'The API key is for other personas', {
    details: ['Its owner can change its list: aichat key update ID --persona'],
  })
}

/**
 * Compiles a pattern in which `*` stands for any characters, also none. Takes time in proportion to pattern times text at
 * the most, also for hostile patterns such as `*a*a*a*b`, which a regular expression would try for years.
 */
export function globOf(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    // The leftmost place of each part leaves the most room for the parts behind it.
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= text.length - last.length
  }
}
