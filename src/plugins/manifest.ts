import { z } from 'zod'
import { AppError } from '../errors.ts'
import { validate } from '../formats/formats.ts'
import { hostRange } from '../http/http.ts'
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
import { describeFields } from './manifest-fields.ts'

/**
 * The plugin document: how to reach one provider or speech server. A file with id, name, type, endpoint, auth and
 * model_map is enough; everything else is optional and unknown fields are kept. `manifest-fields.json` says what each means.
 */

/** A model name as providers write them: `gpt-4o`, `qwen/qwen3-coder:free`, `models/x@2`. Never a way out of a path. */
const modelRule = /^[\w.:/@+~-]{1,200}$/

/** True for a text that looks like a model's name and cannot leave the place it is put in. */
export function isModelName(name: string): boolean {
  return modelRule.test(name) && !name.includes('..') && !name.startsWith('/') && !name.includes('//')
}

const modelName = () =>
  z.string().refine(isModelName, 'must be a model name: letters, digits and . _ : / @ + ~ - without ".."')

const httpUrl = () => z.string().max(2000).superRefine(checkUrl)

const milliseconds = () => z.int().min(1).max(3_600_000)

const scalar = () =>
  z.union([z.string(), z.number(), z.boolean(), z.null()], 'must be a text, a number, true, false or null')

const keepRule = z.looseObject({
  path: z.string(),
  has: z.exactOptional(z.string()),
  equals: z.exactOptional(scalar()),
  not: z.exactOptional(scalar()),
  matches: z.exactOptional(z.string().superRefine(checkPattern)),
  ahead: z.exactOptional(z.literal(true)),
  optional: z.exactOptional(z.boolean()),
})

const modelsSource = z.looseObject({
  url: httpUrl(),
  items: z.string().default('data'),
  id: z.string().default('id'),
  strip: z.exactOptional(z.string()),
  query: z.exactOptional(z.record(z.string(), z.string()).superRefine(checkQuery)),
  next: z.exactOptional(
    z.looseObject({
      query: z.string(),
      field: z.string(),
      more: z.exactOptional(z.string()),
    }),
  ),
  keep: z.exactOptional(z.array(keepRule)),
  drop: z.exactOptional(z.array(z.string().superRefine(checkPattern))),
  include: z.exactOptional(z.array(modelName())),
})

/** Names a fallback: a plugin, or a plugin and one of its models. */
const fallbackTarget = z.union(
  [
    z.string().min(1),
    z.looseObject({
      plugin: z.string().min(1),
      model: z.exactOptional(modelName()),
    }),
  ],
  'must be the id of a plugin, or an object with plugin and model',
)

const keyName = () => z.string().superRefine(checkKeyName)

export const pluginManifest = z.looseObject({
  id: z.string().superRefine(checkId),
  name: z.string().trim().min(1, 'must not be empty').max(200).superRefine(checkLine),
  type: z.enum(['completion', 'embedding', 'chat', 'tts']),
  endpoint: httpUrl(),
  auth: z.looseObject({
    header: z.string().superRefine(checkHeader),
    prefix: z.exactOptional(z.string().superRefine(checkPrefix)),
    key_env: keyName(),
    key_env_alternatives: z.exactOptional(z.array(keyName()).max(8)),
    key_envs: z.exactOptional(z.array(keyName()).max(8)),
  }),
  model_map: z.array(modelName()).min(1, 'must name at least one model').max(10_000),
  capabilities: z.exactOptional(
    z.looseObject({
      tts: z.exactOptional(
        z.looseObject({
          endpoint: z.exactOptional(httpUrl()),
          model_map: z.exactOptional(z.array(modelName())),
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
  api: z.exactOptional(z.enum(['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'ollama'])),
  headers: z.exactOptional(z.record(z.string(), z.string()).superRefine(checkHeaders)),
  default_model: z.exactOptional(modelName()),
  models_source: z.exactOptional(modelsSource),
  models: z.exactOptional(z.record(z.string(), z.looseObject({}))),
  listed: z.exactOptional(z.record(z.string(), z.looseObject({}))),
  models_as_of: z.exactOptional(z.string().superRefine(checkLine)),
  timeouts: z.exactOptional(
    z.strictObject({
      connect: z.exactOptional(milliseconds()),
      first_byte: z.exactOptional(milliseconds()),
      idle: z.exactOptional(milliseconds()),
      total: z.exactOptional(milliseconds()),
    }),
  ),
  retry: z.exactOptional(
    z.strictObject({
      attempts: z.exactOptional(z.int().min(1).max(4)),
      budget_ms: z.exactOptional(z.int().min(0).max(600_000)),
    }),
  ),
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

describeFields(pluginManifest)

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
  const valid = validate(pluginManifest, document, { whole: 'the plugin', step: shownStep })
  const problems = [...(valid.problems ?? []), ...ruleProblems(document, rules)]
  if (problems.length > 0 || valid.problems !== undefined) {
    throw new AppError('invalid', 'Invalid plugin', { details: [...new Set(problems)] })
  }
  return valid.data
}

/** Breaches of the operator's rules, checked on the raw document to be reported with the other problems. */
function ruleProblems(document: unknown, rules: ManifestRules): string[] {
  const problems: string[] = []
  const manifest = (typeof document === 'object' && document !== null ? document : {}) as Partial<PluginManifest>
  const auth = (manifest.auth ?? {}) as Partial<PluginManifest['auth']>
  const listed = (['key_env_alternatives', 'key_envs'] as const).flatMap((field) => {
    const names = auth[field]
    return Array.isArray(names) ? names.map((name, index) => [`auth.${field}.${index}`, name] as const) : []
  })
  for (const [path, name] of [['auth.key_env', auth.key_env] as const, ...listed]) {
    if (typeof name !== 'string' || name === '') continue
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

/** A step of a path in the document, unless a key stands where a name should. */
function shownStep(step: PropertyKey): string {
  return looksLikeKey(String(step)) ? '…' : String(step)
}
