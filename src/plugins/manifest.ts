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

/**
 * Describes a field for `aichat help plugin-file`, aichat-plugin(5) and OpenAPI: its meaning with an example, and the
 * default where the schema itself sets none. test/cli/help/plugin-file.test.ts checks that no field lacks one.
 */
function field<T extends z.ZodType>(schema: T, description: string, example: unknown, fallback?: unknown): T {
  return schema.meta({ description, examples: [example], ...(fallback !== undefined && { default: fallback }) })
}

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], 'must be a text, a number, true, false or null')

const keepRule = z.looseObject({
  path: field(z.string(), 'The field of a row, with dots for nested fields.', 'architecture.output_modalities'),
  has: z.exactOptional(field(z.string(), 'The field is a list with this item.', 'text')),
  equals: z.exactOptional(field(scalar, 'The field has this value.', 'model')),
  not: z.exactOptional(field(scalar, 'The field does not have this value.', 'embeddings')),
  matches: z.exactOptional(
    field(
      z.string().superRefine(checkPattern),
      'The field matches this regular expression, ignoring upper and lower case.',
      '^gpt-',
    ),
  ),
  ahead: z.exactOptional(field(z.literal(true), 'Keep the row only if the field is a date in the future.', true)),
  optional: z.exactOptional(field(z.boolean(), 'Keep rows without the field.', true, false)),
})

const modelsSource = z.looseObject({
  url: field(httpUrl, 'The address of the list.', 'https://chat.example/v1/models'),
  items: field(z.string(), 'The field of the rows; "" when the answer is the array itself.', 'models').default('data'),
  id: field(z.string(), "The field of a row with the model's name.", 'name').default('id'),
  strip: z.exactOptional(field(z.string(), 'A prefix to remove from each name.', 'models/')),
  query: z.exactOptional(
    field(
      z.record(z.string(), z.string()).superRefine(checkQuery),
      'Fixed query values, such as a page size. Never a secret.',
      { limit: '1000' },
    ),
  ),
  next: z.exactOptional(
    field(
      z.looseObject({
        query: field(z.string(), 'The query value of the next page.', 'after_id'),
        field: field(z.string(), 'The field of the answer with the next page.', 'last_id'),
        more: z.exactOptional(field(z.string(), 'A field of the answer that is true while pages remain.', 'has_more')),
      }),
      'Pagination: the cursor of the answer and where the next request sends it.',
      { query: 'after_id', field: 'last_id', more: 'has_more' },
    ),
  ),
  keep: z.exactOptional(
    field(z.array(keepRule), 'Rules for chat models: a row is kept when every rule holds.', [
      { path: 'active', not: false, optional: true },
    ]),
  ),
  drop: z.exactOptional(
    field(
      z.array(z.string().superRefine(checkPattern)),
      'Regular expressions, ignoring upper and lower case: models whose name matches one are dropped.',
      ['whisper|tts|embed'],
    ),
  ),
  include: z.exactOptional(
    field(z.array(modelName), 'Models that the provider serves but does not list.', ['custom-large']),
  ),
})

/** Names a fallback: a plugin, or a plugin and one of its models. */
const fallbackTarget = z.union(
  [
    z.string().min(1),
    z.looseObject({
      plugin: field(z.string().min(1), 'The id of the plugin.', 'groq'),
      model: z.exactOptional(field(modelName, 'A model of that plugin.', 'llama-3.3-70b-versatile')),
    }),
  ],
  'must be the id of a plugin, or an object with plugin and model',
)

const keyName = z.string().superRefine(checkKeyName)

export const pluginManifest = z.looseObject({
  id: field(
    z.string().superRefine(checkId),
    'The name of the plugin in commands: 1 to 64 lower-case letters, digits and . _ -',
    'custom',
  ),
  name: field(
    z.string().trim().min(1, 'must not be empty').max(200).superRefine(checkLine),
    'The name shown to people.',
    'Custom',
  ),
  type: field(
    z.enum(['completion', 'embedding', 'chat', 'tts']),
    'The kind of plugin; completion and chat mean the same. One plugin of each kind is active.',
    'completion',
  ),
  endpoint: field(
    httpUrl,
    'The address that requests are sent to; {model} in its path stands for the name of the model.',
    'https://chat.example/v1/chat/completions',
  ),
  auth: field(
    z.looseObject({
      header: field(
        z.string().superRefine(checkHeader),
        'The header that carries the key; "" for none.',
        'Authorization',
      ),
      prefix: z.exactOptional(
        field(z.string().superRefine(checkPrefix), 'The text before the key in the header.', 'Bearer ', ''),
      ),
      key_env: field(
        keyName,
        'The variable with the key, never the key itself; "" for none. It ends in _API_KEY, is GITHUB_TOKEN, or is listed in PLUGIN_KEY_ENVS.',
        'CUSTOM_API_KEY',
      ),
      key_env_alternatives: z.exactOptional(
        field(z.array(keyName).max(8), 'Other names of the same key, tried after key_env in order; at most 8.', [
          'OTHER_API_KEY',
        ]),
      ),
      key_envs: z.exactOptional(
        field(
          z.array(keyName).max(8),
          'Variables with further keys of the provider, at most 8: requests are shared out between all keys that are set. KEY_ENV_2 to KEY_ENV_9 are such variables without being named.',
          ['CUSTOM_SECOND_API_KEY'],
        ),
      ),
    }),
    'The key of the provider and its header.',
    { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
  ),
  model_map: field(
    z.array(modelName).min(1, 'must name at least one model').max(10_000),
    'The models of the provider, at least one.',
    ['custom-large', 'custom-small'],
  ),
  capabilities: z.exactOptional(
    field(
      z.looseObject({
        tts: z.exactOptional(
          field(
            z.looseObject({
              endpoint: z.exactOptional(
                field(httpUrl, 'The address of the speech server.', 'http://127.0.0.1:8200/v1/audio/speech'),
              ),
              model_map: z.exactOptional(field(z.array(modelName), 'The models of the speech server.', ['voxb-tts'])),
              config: z.exactOptional(
                field(
                  z.looseObject({
                    voices: z.exactOptional(field(z.array(z.string()), 'The voices.', ['alba', 'marius'])),
                    default_voice: z.exactOptional(field(z.string(), 'The voice used without a choice.', 'alba')),
                    formats: z.exactOptional(field(z.array(z.string()), 'The audio formats.', ['wav'])),
                    default_format: z.exactOptional(field(z.string(), 'The format used without a choice.', 'wav')),
                    max_characters: z.exactOptional(field(z.int().min(1), 'The longest text, in characters.', 10_000)),
                    supports_streaming: z.exactOptional(field(z.boolean(), 'The server can stream audio.', true)),
                    no_auth_required: z.exactOptional(field(z.boolean(), 'The server needs no key.', true)),
                  }),
                  'Voices, formats and limits of the speech server.',
                  { voices: ['alba', 'marius'], default_voice: 'alba', formats: ['wav'] },
                ),
              ),
            }),
            'Facts about a speech server.',
            { config: { voices: ['alba'], formats: ['wav'] } },
          ),
        ),
      }),
      'Facts for clients that list plugins; aichat itself sends requests by endpoint and model_map.',
      { tts: { config: { voices: ['alba'] } } },
    ),
  ),
  description: z.exactOptional(
    field(z.string().max(5000).superRefine(checkText), 'A description for people.', 'Models of the Custom provider.'),
  ),
  documentation_url: z.exactOptional(
    field(z.string().max(2000).superRefine(checkLink), "The provider's documentation.", 'https://chat.example/docs'),
  ),
  schema_version: z.exactOptional(field(z.literal(1), 'The version of this format.', 1, 1)),
  api: z.exactOptional(
    field(
      z.enum(['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'ollama']),
      "The provider's dialect; without it, recognised from the endpoint.",
      'openai-chat',
    ),
  ),
  headers: z.exactOptional(
    field(
      z.record(z.string(), z.string()).superRefine(checkHeaders),
      'Further fixed headers. Never a secret: a value shaped like a key is refused.',
      { 'anthropic-version': '2023-06-01' },
    ),
  ),
  default_model: z.exactOptional(
    field(modelName, 'The model used when a request names none; without it, the first of model_map.', 'custom-large'),
  ),
  models_source: z.exactOptional(
    field(modelsSource, 'The list of models that `aichat models refresh` reads.', {
      url: 'https://chat.example/v1/models',
    }),
  ),
  models: z.exactOptional(
    field(
      z.record(z.string(), z.looseObject({})),
      'Facts about models, by name: context_window and max_output in tokens; images, pdf, audio, tools, thinking, structured_output and temperature as true or false; retired as a date. They stand before those of the provider and of the shipped table.',
      { 'custom-large': { context_window: 128_000, images: true } },
    ),
  ),
  listed: z.exactOptional(
    field(
      z.record(z.string(), z.looseObject({})),
      "The same facts as the provider's list states them; `aichat models refresh` writes them.",
      { 'custom-large': { context_window: 128_000 } },
    ),
  ),
  models_as_of: z.exactOptional(
    field(z.string().superRefine(checkLine), 'The date on which model_map was taken from the provider.', '2026-08-22'),
  ),
  timeouts: z.exactOptional(
    field(
      z.strictObject({
        connect: z.exactOptional(field(milliseconds, 'To connect, in milliseconds.', 2_000, 5_000)),
        first_byte: z.exactOptional(
          field(milliseconds, 'From the request to the first byte of the answer, in milliseconds.', 120_000, 60_000),
        ),
        idle: z.exactOptional(
          field(milliseconds, 'Between two pieces of the answer, in milliseconds.', 30_000, 60_000),
        ),
        total: z.exactOptional(
          field(milliseconds, 'For the request with all retries and fallbacks, in milliseconds.', 300_000, 600_000),
        ),
      }),
      'Time limits of a request.',
      { first_byte: 120_000 },
    ),
  ),
  retry: z.exactOptional(
    field(
      z.strictObject({
        attempts: z.exactOptional(field(z.int().min(1).max(4), 'The most attempts, from 1 to 4.', 3, 2)),
        budget_ms: z.exactOptional(
          field(z.int().min(0).max(600_000), 'The longest wait over all retries, in milliseconds.', 5_000, 10_000),
        ),
      }),
      'Repetition of requests that failed for a while.',
      { attempts: 3 },
    ),
  ),
  fallback: z.exactOptional(
    field(
      z.array(fallbackTarget).max(8),
      'Plugins that take over when this one fails, in order, at most 8: an id, or an object. The local model runner is always last.',
      ['openrouter', { plugin: 'groq', model: 'llama-3.3-70b-versatile' }],
    ),
  ),
  status: z.exactOptional(
    field(
      z.looseObject({
        state: field(z.enum(['active', 'deprecated', 'retired']), 'The state of the service.', 'retired'),
        since: z.exactOptional(field(z.string().superRefine(checkLine), 'The date of that state.', '2026-07-30')),
        replacement: z.exactOptional(
          field(z.string().superRefine(checkLine), 'The plugin to use instead.', 'openrouter'),
        ),
        note: z.exactOptional(field(z.string().superRefine(checkLine), 'A remark.', 'The service was shut down.')),
      }),
      'The state of the service; a retired plugin is marked in lists and warned of in chats.',
      { state: 'retired', since: '2026-07-30' },
    ),
  ),
  quirks: z.exactOptional(
    field(
      z.strictObject({
        max_tokens_field: z.exactOptional(
          field(
            z.enum(['max_tokens', 'max_completion_tokens']),
            'The field of the token limit in the OpenAI dialect; without it, chosen by model and host.',
            'max_completion_tokens',
          ),
        ),
        system_as: z.exactOptional(
          field(z.enum(['system', 'developer', 'user']), 'The role that system messages are sent with.', 'developer'),
        ),
        tool_id_pattern: z.exactOptional(
          field(
            z.string().superRefine(checkPattern),
            'A regular expression that ids of tool calls must match; others are renamed.',
            '^[a-zA-Z0-9]{9}$',
          ),
        ),
        no_stream_options: z.exactOptional(
          field(z.boolean(), 'Leave out stream_options, which the provider rejects.', true, false),
        ),
      }),
      'Deviations of the provider from its dialect.',
      { no_stream_options: true },
    ),
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
