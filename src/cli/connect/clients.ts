import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'

/** A model that a client can name. */
export interface OfferedModel {
  readonly id: string
  readonly name: string
  /** Tokens; absent where they are unknown. */
  readonly context?: number | undefined
  readonly longestAnswer?: number | undefined
  readonly images?: boolean | undefined
  readonly tools?: boolean | undefined
  readonly thinking?: boolean | undefined
  readonly temperature?: boolean | undefined
}

/** The values that a client is pointed with. */
export interface Pointing {
  /** The address of the daemon, without a slash at its end. */
  readonly server: string
  readonly key: string
  /** The model to start with, and all that are offered, this one first. */
  readonly model: OfferedModel
  readonly models: readonly OfferedModel[]
}

/** Variables of an environment; undefined ones are removed. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A program that can be pointed at the daemon. */
export interface Client {
  readonly name: string
  readonly speaks: 'responses' | 'chat' | 'messages' | 'ollama'
  /** The program that starts it; none for a library. */
  readonly program?: string
  /** Embeddings are asked with the same key. */
  readonly embeds?: true
  /** The variables that point it here. */
  readonly environment: (pointing: Pointing) => Variables
  /** The arguments that point it here, where variables do not. */
  readonly args?: (pointing: Pointing) => readonly string[]
}

/** The variable with the key, for clients whose settings can name one. */
const keyVariable = 'AICHAT_CLIENT_KEY'

/**
 * The clients by their names on the command line. Their settings: openai/codex `docs/config.md`; code.claude.com/docs
 * (settings, llm-gateway); opencode.ai/docs/config; aider.chat/docs/config.
 */
export const clients: Readonly<Record<string, Client>> = {
  codex: {
    name: 'Codex',
    speaks: 'responses',
    program: 'codex',
    environment: ({ key }) => ({ [keyVariable]: key }),
    args: ({ server, model: { id, context } }) => {
      const settings = {
        model: id,
        model_provider: 'aichat',
        ...(context !== undefined && { model_context_window: context }),
        'model_providers.aichat.name': 'aichat',
        'model_providers.aichat.base_url': `${server}/v1`,
        'model_providers.aichat.wire_api': 'responses',
        'model_providers.aichat.env_key': keyVariable,
      }
      // The values are TOML, of which JSON's texts and numbers are a part.
      return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`])
    },
  },
  claude: {
    name: 'Claude Code',
    speaks: 'messages',
    program: 'claude',
    environment: (pointing) => ({
      ...claudeVariables(pointing),
      ANTHROPIC_AUTH_TOKEN: pointing.key,
      ANTHROPIC_API_KEY: undefined,
    }),
    // The user's own settings may name another address, and win over the environment.
    args: (pointing) => ['--settings', JSON.stringify({ env: claudeVariables(pointing) })],
  },
  opencode: {
    name: 'opencode',
    speaks: 'chat',
    program: 'opencode',
    environment: (pointing) => ({
      [keyVariable]: pointing.key,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeSettings(pointing)),
    }),
  },
  aider: {
    name: 'aider',
    speaks: 'chat',
    program: 'aider',
    environment: ({ server, key, model }) => ({
      OPENAI_API_BASE: `${server}/v1`,
      OPENAI_API_KEY: key,
      AIDER_MODEL: `openai/${model.id}`,
    }),
  },
  openai: {
    name: 'OpenAI libraries',
    speaks: 'responses',
    embeds: true,
    environment: ({ server, key }) => ({ OPENAI_BASE_URL: `${server}/v1`, OPENAI_API_KEY: key }),
  },
  anthropic: {
    name: 'Anthropic libraries',
    speaks: 'messages',
    environment: ({ server, key }) => ({
      ANTHROPIC_BASE_URL: server,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_AUTH_TOKEN: undefined,
    }),
  },
  ollama: {
    name: 'programs for Ollama',
    speaks: 'ollama',
    embeds: true,
    environment: ({ server, key }) => ({ OLLAMA_HOST: `${server}/ollama`, OLLAMA_API_KEY: key }),
  },
}

/** The variables of Claude Code, without its key. */
function claudeVariables({ server, model }: Pointing): Readonly<Record<string, string>> {
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

/** The settings of opencode. */
function opencodeSettings({ server, model, models }: Pointing) {
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
  const aichat = {
    npm: '@ai-sdk/openai-compatible',
    name: 'aichat',
    options: { baseURL: `${server}/v1`, apiKey: `{env:${keyVariable}}` },
    models: Object.fromEntries(models.map((each) => [each.id, { name: each.name, ...factsOf(each) }])),
  }
  return { provider: { aichat }, model: `aichat/${model.id}`, small_model: `aichat/${model.id}` }
}

/** The client of a name. Throws `usage`. */
export function clientNamed(name: string): Client {
  if (Object.hasOwn(clients, name)) return clients[name]!
  throw new AppError('usage', `Client "${name}" not found${suggestion(name, Object.keys(clients))}`, {
    details: [`There are: ${clientNames()}`],
  })
}

/** The names of all clients, for messages. */
export function clientNames(): string {
  return Object.keys(clients).join(', ')
}
