import { join } from 'node:path'
import type { ClientFile, OfferedModel, Pointing } from './client.ts'
import type { Edit } from './config/edits.ts'

/** Tokens that are told to clients that demand a number for a model of unknown size. */
const cautiousContext = 32_768

/** The provider of Codex, without its key. */
export function codexProvider({ server }: Pointing) {
  return { name: 'aichat', base_url: `${server}/v1`, wire_api: 'responses' }
}

/** Flags of Codex for one setting; values are TOML, of which JSON's texts and numbers are a part. */
export function config(name: string, value: string | number): readonly string[] {
  return ['-c', `${name}=${JSON.stringify(value)}`]
}

/** The variables of Claude Code, without its key. */
export function claudeVariables({ server, model }: Pointing): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: server,
    ANTHROPIC_MODEL: model.id,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model.id,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model.id,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model.id,
    ANTHROPIC_DEFAULT_FABLE_MODEL: model.id,
    CLAUDE_CODE_SUBAGENT_MODEL: model.id,
    ...(model.longestAnswer !== undefined && { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(model.longestAnswer) }),
    ...(model.context !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.context) }),
    // Fields that other providers do not know, and requests to other addresses.
    CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
  }
}

/** The settings of opencode; `apiKey` may refer to a file or a variable. */
export function opencodeEdits({ server, model, models }: Pointing, apiKey: string) {
  /** The fields of a model that https://opencode.ai/config.json describes, as far as they are known. */
  const factsOf = ({ context, longestAnswer, images, tools, thinking, temperature }: OfferedModel) => ({
    ...(context !== undefined && { limit: { context, output: longestAnswer ?? Math.floor(context / 4) } }),
    ...(images !== undefined && {
      attachment: images,
      modalities: { input: ['text', ...(images ? ['image'] : [])], output: ['text'] },
    }),
    ...(tools !== undefined && { tool_call: tools }),
    ...(thinking !== undefined && { reasoning: thinking }),
    ...(temperature !== undefined && { temperature }),
  })
  const value = {
    npm: '@ai-sdk/openai-compatible',
    name: 'aichat',
    options: { baseURL: `${server}/v1`, apiKey },
    models: Object.fromEntries(models.map((each) => [each.id, { name: each.name, ...factsOf(each) }])),
  }
  return [
    { path: ['provider', 'aichat'], value },
    { path: ['model'], value: `aichat/${model.id}` },
    { path: ['small_model'], value: `aichat/${model.id}` },
  ]
}

/** The settings of Continue; `apiKey` may refer to a secret. */
export function continueEdits({ server, models }: Pointing, apiKey: string): readonly Edit[] {
  const apiBase = `${server}/v1`
  const items = models.map(({ id, context }) => ({
    name: `aichat ${id}`,
    provider: 'openai',
    model: id,
    apiBase,
    apiKey,
    roles: ['chat', 'edit', 'apply'],
    ...(context !== undefined && { defaultCompletionOptions: { contextLength: context } }),
  }))
  return [
    { path: ['name'], value: 'aichat', keep: true },
    { path: ['version'], value: '1.0.0', keep: true },
    { path: ['schema'], value: 'v1', keep: true },
    { path: ['models'], items, by: 'name' },
  ]
}

/** The provider of Zed, which takes its key from the keychain. */
export function zedProvider({ server, models }: Pointing) {
  return {
    api_url: `${server}/v1`,
    available_models: models.map(({ id, name, context, longestAnswer, images, tools }) => ({
      name: id,
      display_name: name,
      max_tokens: context ?? cautiousContext,
      ...(longestAnswer !== undefined && { max_output_tokens: longestAnswer }),
      // Zed takes a model without this field for one with tools and without eyes.
      ...((images ?? tools) !== undefined && {
        capabilities: {
          tools: tools !== false,
          images: images === true,
          parallel_tool_calls: false,
          prompt_cache_key: false,
        },
      }),
    })),
  }
}

/** The files of llm, in a folder. The first model is `aichat` as well. */
export function llmFiles({ server, key, models }: Pointing, folder: string): readonly ClientFile[] {
  const items = models.map(({ id }, at) => ({
    model_id: `aichat/${id}`,
    ...(at === 0 && { aliases: ['aichat'] }),
    model_name: id,
    api_base: `${server}/v1`,
    api_key_name: 'aichat',
    supports_tools: true,
    supports_schema: true,
  }))
  return [
    { path: join(folder, 'extra-openai-models.yaml'), format: 'yaml', edits: [{ path: [], items, by: 'model_id' }] },
    { path: join(folder, 'keys.json'), format: 'json', secret: true, edits: [{ path: ['aichat'], value: key }] },
  ]
}

/** The object with these values at their places. */
export function asObject(edits: readonly { readonly path: readonly string[]; readonly value: unknown }[]) {
  const object: Record<string, unknown> = {}
  for (const { path, value } of edits) {
    let place = object
    for (const step of path.slice(0, -1)) {
      place[step] ??= {}
      place = place[step] as Record<string, unknown>
    }
    place[path.at(-1)!] = value
  }
  return object
}

/** A word for the shell that runs Claude Code's helper. */
export function shellWord(word: string): string {
  return /^[\w./:\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
