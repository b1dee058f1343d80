import { join } from 'node:path'
import type { Edit, FormatName } from './config/edits.ts'
import type { Places } from './places.ts'

/** A model that a client can name. */
export interface OfferedModel {
  readonly id: string
  readonly name: string
  /** Tokens; absent where they are unknown. */
  readonly context?: number | undefined
  readonly longestAnswer?: number | undefined
}

/** The values that a client is pointed with. */
export interface Pointing {
  /** The address of the daemon, without a slash at its end. */
  readonly server: string
  readonly key: string
  /** The file that holds the key; only its owner can read it. */
  readonly keyFile: string
  /** The model to start with, and all that are offered, this one first. */
  readonly model: OfferedModel
  readonly models: readonly OfferedModel[]
}

/** A configuration file of a client, with the changes that point it here. */
export interface ClientFile {
  readonly path: string
  readonly format: FormatName
  readonly edits: readonly Edit[]
  /** The file holds the key: only its owner may read it. */
  readonly secret?: true
}

/** The way to start a client with settings for one run alone. */
export interface Launch {
  /** Arguments before those of the user. */
  readonly args: readonly string[]
  readonly environment: Variables
  /** Files of a folder for this run, by name. `links` names a folder whose other entries appear in it. */
  readonly folder?: { readonly files: readonly ClientFile[]; readonly links?: string }
}

/** Variables of an environment; undefined ones are removed. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A program that can be pointed at the daemon. */
export interface Client {
  readonly name: string
  readonly speaks: 'responses' | 'chat' | 'messages' | 'ollama'
  /** Programs that start it; none for a library, which is launched by the user's own command. */
  readonly programs: readonly string[]
  readonly install?: string
  /** Embeddings are asked with the same key. */
  readonly embeds?: true
  /** The environment alone points it here. */
  readonly environment?: (pointing: Pointing) => Variables
  readonly files?: (pointing: Pointing, places: Places) => readonly ClientFile[]
  /** Undefined where a run of its own cannot have settings of its own. `folder` is that of `Launch`. */
  readonly launch?: (pointing: Pointing, places: Places, folder: string) => Launch
  /** The reason not to write the files as things are on this machine. */
  readonly conflict?: (places: Places) => string | undefined
  /** What is left for the user to do once the files are written. */
  readonly advice?: (pointing: Pointing) => string
}

/** The variable with the key, for clients that read one of their own choice. */
export const keyVariable = 'AICHAT_API_KEY'

/** Tokens that are told to clients that demand a number for a model of unknown size. */
const cautiousContext = 32_768

/**
 * The clients by their names on the command line. Their settings: openai/codex `docs/config.md`; code.claude.com/docs
 * (settings, llm-gateway); opencode.ai/docs/config; aider.chat/docs/config; continuedev/continue `docs/reference.mdx`;
 * zed-industries/zed `docs/src/ai/use-api-access.md`; simonw/llm `docs/other-models.md`.
 */
export const clients: Readonly<Record<string, Client>> = {
  codex: {
    name: 'Codex',
    speaks: 'responses',
    programs: ['codex'],
    install: 'npm install -g @openai/codex',
    files: (pointing, { codexFolder, printFile }) => {
      const [command, ...args] = printFile(pointing.keyFile)
      return [
        {
          path: join(codexFolder, 'config.toml'),
          format: 'toml',
          edits: [
            { path: ['model'], value: pointing.model.id },
            { path: ['model_provider'], value: 'aichat' },
            ...(pointing.model.context === undefined
              ? []
              : [{ path: ['model_context_window'], value: pointing.model.context }]),
            { path: ['model_providers', 'aichat'], value: { ...codexProvider(pointing), auth: { command, args } } },
          ],
        },
      ]
    },
    launch: (pointing) => ({
      args: [
        ...config('model', pointing.model.id),
        ...config('model_provider', 'aichat'),
        ...(pointing.model.context === undefined ? [] : config('model_context_window', pointing.model.context)),
        ...Object.entries({ ...codexProvider(pointing), env_key: keyVariable }).flatMap(([field, value]) =>
          config(`model_providers.aichat.${field}`, value),
        ),
      ],
      environment: { [keyVariable]: pointing.key },
    }),
  },
  claude: {
    name: 'Claude Code',
    speaks: 'messages',
    programs: ['claude'],
    install: 'npm install -g @anthropic-ai/claude-code',
    environment: (pointing) => ({
      ...claudeVariables(pointing),
      ANTHROPIC_AUTH_TOKEN: pointing.key,
      ANTHROPIC_API_KEY: undefined,
    }),
    files: (pointing, { claudeFolder, printFile }) => [
      {
        path: join(claudeFolder, 'settings.json'),
        format: 'json',
        edits: [
          ...Object.entries(claudeVariables(pointing)).map(([name, value]) => ({ path: ['env', name], value })),
          { path: ['apiKeyHelper'], value: printFile(pointing.keyFile).map(shellWord).join(' ') },
        ],
      },
    ],
    launch: (pointing) => ({
      // The user's own settings may name another address, and win over the environment.
      args: ['--settings', JSON.stringify({ env: claudeVariables(pointing) })],
      environment: {
        ...claudeVariables(pointing),
        ANTHROPIC_AUTH_TOKEN: pointing.key,
        ANTHROPIC_API_KEY: undefined,
      },
    }),
  },
  opencode: {
    name: 'opencode',
    speaks: 'chat',
    programs: ['opencode'],
    install: 'npm install -g opencode-ai',
    files: (pointing, { opencodeFile }) => [
      { path: opencodeFile, format: 'json', edits: opencodeEdits(pointing, `{file:${pointing.keyFile}}`) },
    ],
    launch: (pointing) => ({
      args: [],
      environment: {
        [keyVariable]: pointing.key,
        OPENCODE_CONFIG_CONTENT: JSON.stringify(asObject(opencodeEdits(pointing, `{env:${keyVariable}}`))),
      },
    }),
  },
  aider: {
    name: 'aider',
    speaks: 'chat',
    programs: ['aider'],
    install: 'python3 -m pip install aider-install && aider-install',
    environment: ({ server, key, model }) => ({
      OPENAI_API_BASE: `${server}/v1`,
      OPENAI_API_KEY: key,
      AIDER_MODEL: `openai/${model.id}`,
    }),
    files: ({ server, key, model }, { home }) => [
      {
        path: join(home, '.aider.conf.yml'),
        format: 'yaml',
        secret: true,
        edits: [
          { path: ['openai-api-base'], value: `${server}/v1` },
          { path: ['openai-api-key'], value: key },
          { path: ['model'], value: `openai/${model.id}` },
        ],
      },
    ],
    launch: ({ server, key, model }) => ({
      args: ['--model', `openai/${model.id}`, '--openai-api-base', `${server}/v1`],
      environment: { OPENAI_API_BASE: `${server}/v1`, OPENAI_API_KEY: key, AIDER_OPENAI_API_KEY: key },
    }),
  },
  continue: {
    name: 'Continue',
    speaks: 'chat',
    programs: ['cn'],
    install: 'the extension Continue for VS Code or JetBrains, or npm install -g @continuedev/cli',
    embeds: true,
    conflict: ({ continueFolder, exists }) =>
      exists(join(continueFolder, 'config.json')) && !exists(join(continueFolder, 'config.yaml'))
        ? `Continue still uses ${join(continueFolder, 'config.json')}, which a config.yaml would replace: migrate it in Continue first`
        : undefined,
    files: (pointing, { continueFolder }) => [
      {
        path: join(continueFolder, 'config.yaml'),
        format: 'yaml',
        edits: continueEdits(pointing, `\${{ secrets.${keyVariable} }}`),
      },
      {
        path: join(continueFolder, '.env'),
        format: 'dotenv',
        secret: true,
        edits: [{ path: [keyVariable], value: pointing.key }],
      },
    ],
    launch: (pointing, _places, folder) => ({
      args: ['--config', join(folder, 'config.yaml')],
      environment: {},
      folder: {
        files: [{ path: 'config.yaml', format: 'yaml', secret: true, edits: continueEdits(pointing, pointing.key) }],
      },
    }),
  },
  zed: {
    name: 'Zed',
    speaks: 'chat',
    programs: ['zed', 'zeditor'],
    install: 'from zed.dev',
    files: (pointing, { zedFile }) => [
      {
        path: zedFile,
        format: 'json',
        edits: [
          { path: ['language_models', 'openai_compatible', 'aichat'], value: zedProvider(pointing) },
          { path: ['agent', 'default_model'], value: { provider: 'aichat', model: pointing.model.id } },
        ],
      },
    ],
    advice: ({ keyFile }) =>
      `Zed takes the key from its keychain: paste the text of ${keyFile} in its settings (AI, LLM Providers, aichat), or start Zed with ${keyVariable} set to it`,
  },
  llm: {
    name: 'llm',
    speaks: 'chat',
    programs: ['llm'],
    install: 'pipx install llm',
    files: (pointing, { llmFolder }) => llmFiles(pointing, llmFolder),
    launch: (pointing, { llmFolder }, folder) => ({
      args: [],
      environment: { LLM_USER_PATH: folder, LLM_MODEL: 'aichat' },
      folder: { files: llmFiles(pointing, ''), links: llmFolder },
    }),
    advice: ({ model }) => `Ask it: llm -m aichat "…"; that is ${model.id}, and \`llm models\` lists the others`,
  },
  openai: {
    name: 'OpenAI libraries',
    speaks: 'responses',
    programs: [],
    embeds: true,
    environment: ({ server, key }) => ({ OPENAI_BASE_URL: `${server}/v1`, OPENAI_API_KEY: key }),
  },
  anthropic: {
    name: 'Anthropic libraries',
    speaks: 'messages',
    programs: [],
    environment: ({ server, key }) => ({
      ANTHROPIC_BASE_URL: server,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_AUTH_TOKEN: undefined,
    }),
  },
  ollama: {
    name: 'programs for Ollama',
    speaks: 'ollama',
    programs: [],
    embeds: true,
    environment: ({ server, key }) => ({ OLLAMA_HOST: `${server}/ollama`, OLLAMA_API_KEY: key }),
  },
}

function codexProvider({ server }: Pointing) {
  return { name: 'aichat', base_url: `${server}/v1`, wire_api: 'responses' }
}

/** Flags of Codex for one setting; values are TOML, of which JSON's texts and numbers are a part. */
function config(name: string, value: string | number): readonly string[] {
  return ['-c', `${name}=${JSON.stringify(value)}`]
}

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

function opencodeEdits({ server, model, models }: Pointing, apiKey: string) {
  const limits = ({ context, longestAnswer }: OfferedModel) =>
    context === undefined ? {} : { limit: { context, output: longestAnswer ?? Math.floor(context / 4) } }
  const value = {
    npm: '@ai-sdk/openai-compatible',
    name: 'aichat',
    options: { baseURL: `${server}/v1`, apiKey },
    models: Object.fromEntries(models.map((each) => [each.id, { name: each.name, ...limits(each) }])),
  }
  return [
    { path: ['provider', 'aichat'], value },
    { path: ['model'], value: `aichat/${model.id}` },
    { path: ['small_model'], value: `aichat/${model.id}` },
  ]
}

function continueEdits({ server, models }: Pointing, apiKey: string): readonly Edit[] {
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

function zedProvider({ server, models }: Pointing) {
  return {
    api_url: `${server}/v1`,
    available_models: models.map(({ id, name, context, longestAnswer }) => ({
      name: id,
      display_name: name,
      max_tokens: context ?? cautiousContext,
      ...(longestAnswer !== undefined && { max_output_tokens: longestAnswer }),
    })),
  }
}

/** The files of llm, in a folder. The first model is `aichat` as well. */
function llmFiles({ server, key, models }: Pointing, folder: string): readonly ClientFile[] {
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
function asObject(edits: readonly { readonly path: readonly string[]; readonly value: unknown }[]) {
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
function shellWord(word: string): string {
  return /^[\w./:\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
