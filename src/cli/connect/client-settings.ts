import type { OfferedModel, Pointing } from './client.ts'

/** The provider of Codex, without its key. */
export function codexProvider({ server }: Pointing) {
  return { name: 'aichat', base_url: `${server}/v1`, wire_api: 'responses' }
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

/** A word for the shell that runs Claude Code's helper. */
export function shellWord(word: string): string {
  return /^[\w./:\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
