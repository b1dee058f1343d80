import { z } from 'zod'
import { AppError } from '../errors.ts'
import { hostRange } from '../http/address-range.ts'
import { isKeyName, isOwnVariable, type KeyHosts, whyKeyMayNotGoTo } from './key-rules.ts'
import { looksLikeKey } from './key-shapes.ts'
import {
  checkHeader,
  checkHeaders,
  checkId,
  checkKeyName,
  checkLine,
  checkLink,
  checkPattern,
  checkPrefix,
  checkQuery,
  checkText,
  checkUrl,
} from './manifest-checks.ts'

/**
 * The plugin document: how to reach one provider or speech server. A file with id, name, type, endpoint, auth and
 * model_map is enough; everything else is optional and unknown fields are kept.
 */

/** A model name as providers write them: `gpt-4o`, `qwen/qwen3-coder:free`, `models/x@2`. Never a way out of a path. */
const modelRule = /^[\w.:/@+~-]{1,200}$/

/** True for a text that looks like a model's name and cannot leave the place it is put in. */
export function isModelName(name: string): boolean {
  return modelRule.test(name) && !name.includes('..') && !name.startsWith('/') && !name.includes('//')
}

const modelName = z
  .string()
  .refine(isModelName, 'must be a model name: letters, digits and . _ : / @ + ~ - without ".."')

const httpUrl = z.string().max(2000).superRefine(checkUrl)

const milliseconds = z.int().min(1).max(3_600_000)

const modelsSource = z.looseObject({
  /** Where the provider lists its models. */
  url: httpUrl,
  /** The field that holds the rows; "" when the answer is the array itself. */
  items: z.string().default('data'),
  /** The field of a row that holds the model's name. */
  id: z.string().default('id'),
  /** Taken off the front of each name. */
  strip: z.exactOptional(z.string()),
  /** Fixed query values, such as a page size. */
  query: z.exactOptional(z.record(z.string(), z.string()).superRefine(checkQuery)),
  /** Pagination: the answer's `field` is sent as the query value `query`, as long as `more` (if named) is true. */
  next: z.exactOptional(z.looseObject({ query: z.string(), field: z.string(), more: z.exactOptional(z.string()) })),
  /** A row is kept when every rule holds; a rule marked optional holds where the row lacks the field. */
  keep: z.exactOptional(
    z.array(
      z.looseObject({
        path: z.string(),
        has: z.exactOptional(z.string()),
        equals: z.exactOptional(z.union([z.string(), z.number(), z.boolean(), z.null()])),
        not: z.exactOptional(z.union([z.string(), z.number(), z.boolean(), z.null()])),
        matches: z.exactOptional(z.string().superRefine(checkPattern)),
        /** The field is a date that has not come yet. */
        ahead: z.exactOptional(z.literal(true)),
        optional: z.exactOptional(z.boolean()),
      }),
    ),
  ),
  /** Names matching one of these regular expressions are dropped. */
  drop: z.exactOptional(z.array(z.string().superRefine(checkPattern))),
  /** Names the provider does not list but serves. */
  include: z.exactOptional(z.array(modelName)),
})

/** Which fallback a list entry names: a plugin, or a plugin and one of its models. */
const fallbackTarget = z.union([
  z.string().min(1),
  z.looseObject({ plugin: z.string().min(1), model: z.exactOptional(modelName) }),
])

export const pluginManifest = z.looseObject({
  id: z.string().superRefine(checkId),
  name: z.string().trim().min(1, 'must not be empty').max(200).superRefine(checkLine),
  type: z.enum(['completion', 'embedding', 'chat', 'tts']),
  endpoint: httpUrl,
  auth: z.looseObject({
    header: z.string().superRefine(checkHeader),
    prefix: z.exactOptional(z.string().superRefine(checkPrefix)),
    key_env: z.string().superRefine(checkKeyName),
    key_env_alternatives: z.exactOptional(z.array(z.string().superRefine(checkKeyName)).max(8)),
  }),
  model_map: z.array(modelName).min(1, 'must name at least one model').max(10_000),
  capabilities: z.exactOptional(
    z.looseObject({
      tts: z.exactOptional(
        z.looseObject({
          endpoint: z.exactOptional(httpUrl),
          model_map: z.exactOptional(z.array(modelName)),
          config: z.exactOptional(
            z.looseObject({
              voices: z.exactOptional(z.array(z.string())),
              default_voice: z.exactOptional(z.string()),
              formats: z.exactOptional(z.array(z.string())),
              default_format: z.exactOptional(z.string()),
              max_characters: z.exactOptional(z.int().min(1)),
              supports_streaming: z.exactOptional(z.boolean()),
              no_auth_required: z.exactOptional(z.boolean()),
            }),
          ),
        }),
      ),
    }),
  ),
  description: z.exactOptional(z.string().max(5000).superRefine(checkText)),
  documentation_url: z.exactOptional(z.string().max(2000).superRefine(checkLink)),
  schema_version: z.exactOptional(z.literal(1)),
  /** The dialect; guessed from the endpoint when absent. */
  api: z.exactOptional(z.enum(['openai-chat', 'anthropic-messages', 'gemini', 'ollama'])),
  /** Fixed extra headers. Never a secret: a value shaped like a key is refused. */
  headers: z.exactOptional(z.record(z.string(), z.string()).superRefine(checkHeaders)),
  default_model: z.exactOptional(modelName),
  models_source: z.exactOptional(modelsSource),
  /** Facts about models, by name: context window, longest answer, prices, abilities. */
  models: z.exactOptional(z.record(z.string(), z.looseObject({}))),
  /** The date (YYYY-MM-DD) on which `model_map` was taken from the provider. */
  models_as_of: z.exactOptional(z.string().superRefine(checkLine)),
  /** Milliseconds: to connect, to the first byte, between bytes, and in all. */
  timeouts: z.exactOptional(
    z.strictObject({
      connect: z.exactOptional(milliseconds),
      first_byte: z.exactOptional(milliseconds),
      idle: z.exactOptional(milliseconds),
      total: z.exactOptional(milliseconds),
    }),
  ),
  /** Tries at this plugin (at most 4), and the milliseconds that all waiting may take. */
  retry: z.exactOptional(
    z.strictObject({
      attempts: z.exactOptional(z.int().min(1).max(4)),
      budget_ms: z.exactOptional(z.int().min(0).max(600_000)),
    }),
  ),
  /** Where a failed request goes next, in order; the local runner is always last. */
  fallback: z.exactOptional(z.array(fallbackTarget).max(8)),
  status: z.exactOptional(
    z.looseObject({
      state: z.enum(['active', 'deprecated', 'retired']),
      since: z.exactOptional(z.string().superRefine(checkLine)),
      replacement: z.exactOptional(z.string().superRefine(checkLine)),
      note: z.exactOptional(z.string().superRefine(checkLine)),
    }),
  ),
  quirks: z.exactOptional(
    z.strictObject({
      max_tokens_field: z.exactOptional(z.enum(['max_tokens', 'max_completion_tokens'])),
      system_as: z.exactOptional(z.enum(['system', 'developer', 'user'])),
      tool_id_pattern: z.exactOptional(z.string().superRefine(checkPattern)),
      no_stream_options: z.exactOptional(z.boolean()),
    }),
  ),
})

export type PluginManifest = z.output<typeof pluginManifest>
export type ModelsSource = z.output<typeof modelsSource>
export type PluginKind = 'chat' | 'embedding' | 'tts'

/** Plugins of type `completion` and `chat` are one kind: at most one of a kind is active. */
export function kindOf(manifest: Pick<PluginManifest, 'type'>): PluginKind {
  return manifest.type === 'completion' ? 'chat' : manifest.type
}

export interface ManifestRules {
  /** Variables, beside `*_API_KEY` and GITHUB_TOKEN, that the operator allows a plugin to name. */
  readonly keyNames: readonly string[]
  /** Whether endpoints may lie on private addresses and this machine. */
  readonly allowPrivate: boolean
  /** Key names that belong to hosts: sent to these only. */
  readonly pinned: KeyHosts
}

/**
 * Parses untrusted JSON as a plugin document. Throws one `invalid` AppError that names every problem with its path in the
 * document: shapes, and the operator's rules on key names and addresses.
 */
export function parseManifest(document: unknown, rules: ManifestRules): PluginManifest {
  const parsed = pluginManifest.safeParse(document)
  const problems = parsed.success ? [] : parsed.error.issues.map(describe)
  problems.push(...ruleProblems(document, rules))
  if (problems.length > 0 || !parsed.success) {
    throw new AppError('invalid', 'Invalid plugin', { details: [...new Set(problems)] })
  }
  return parsed.data
}

/** Breaches of the operator's rules, checked on the raw document to be reported with the other problems. */
function ruleProblems(document: unknown, rules: ManifestRules): string[] {
  const problems: string[] = []
  const manifest = (typeof document === 'object' && document !== null ? document : {}) as Partial<PluginManifest>
  const auth = (manifest.auth ?? {}) as Partial<PluginManifest['auth']>
  const names = [auth.key_env, ...(Array.isArray(auth.key_env_alternatives) ? auth.key_env_alternatives : [])]
  for (const [index, name] of names.entries()) {
    if (typeof name !== 'string' || name === '') continue
    const path = index === 0 ? 'auth.key_env' : `auth.key_env_alternatives.${index - 1}`
    // A value that is not a key's name may be the key itself: it is never shown.
    if (!isKeyName(name, rules.keyNames)) {
      if (!isOwnVariable(name) && /^[A-Z][A-Z0-9_]*$/.test(name) && !looksLikeKey(name))
        problems.push(`${path}: must end in _API_KEY, be GITHUB_TOKEN, or be listed in PLUGIN_KEY_ENVS`)
      continue
    }
    for (const [where, endpoint] of endpointsOf(manifest)) {
      const reason = whyKeyMayNotGoTo(name, endpoint, rules.pinned)
      if (reason) problems.push(`${where}: ${reason}`)
    }
  }
  for (const [where, endpoint] of endpointsOf(manifest)) {
    const url = URL.parse?.(endpoint) ?? (URL.canParse(endpoint) ? new URL(endpoint) : null)
    if (url && !rules.allowPrivate && hostRange(url.hostname) !== 'public')
      problems.push(`${where}: private addresses are switched off (PLUGIN_ALLOW_PRIVATE)`)
  }
  return problems
}

/** Every address of a plugin to which its key is sent, with its path in the document. */
export function endpointsOf(manifest: Partial<PluginManifest>): [string, string][] {
  const found: [string, unknown][] = [
    ['endpoint', manifest.endpoint],
    ['models_source.url', manifest.models_source?.url],
    ['capabilities.tts.endpoint', manifest.capabilities?.tts?.endpoint],
  ]
  return found.filter((entry): entry is [string, string] => typeof entry[1] === 'string' && URL.canParse(entry[1]))
}

/** `auth.key_env: must be …`; unions and missing fields in plain words. */
function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(shownStep).join('.') || 'the plugin'
  if (issue.code === 'invalid_type') {
    const missing = 'input' in issue && issue.input === undefined
    return `${path}: ${missing || /received undefined/.test(issue.message) ? 'is missing' : `must be ${article(issue.expected)}`}`
  }
  if (issue.code === 'invalid_value')
    return `${path}: must be ${issue.values.map(String).join(', ')}`.replace(/, ([^,]+)$/, ' or $1')
  if (issue.code === 'unrecognized_keys') return `${path}: does not know ${issue.keys.map(shownStep).join(', ')}`
  if (issue.code === 'too_big' && issue.message.startsWith('Too'))
    return `${path}: must be at most ${issue.maximum}${unit(issue.origin)}`
  if (issue.code === 'too_small' && issue.message.startsWith('Too'))
    return `${path}: must be at least ${issue.minimum}${unit(issue.origin)}`
  if (issue.code === 'invalid_union') return `${path}: must be ${unions[String(issue.path[0])] ?? 'of another type'}`
  return `${path}: ${issue.message}`
}

/** A step of a path in the document, unless a key stands where a name should. */
function shownStep(step: PropertyKey): string {
  return looksLikeKey(String(step)) ? '…' : String(step)
}

/** The names of the types that a union allows. */
const unions: Readonly<Record<string, string>> = {
  fallback: 'the id of a plugin, or an object with plugin and model',
  models_source: 'a text, a number, true, false or null',
}

function unit(origin: string): string {
  return origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : ''
}

function article(expected: string): string {
  const names: Record<string, string> = {
    record: 'an object',
    object: 'an object',
    array: 'a list',
    string: 'a text',
    boolean: 'true or false',
    int: 'a whole number',
  }
  return names[expected] ?? `a ${expected}`
}
