import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/nearest-name.ts'
import { type Client, keyVariable } from './client.ts'
import {
  asObject,
  claudeVariables,
  codexProvider,
  config,
  continueEdits,
  llmFiles,
  opencodeEdits,
  shellWord,
  zedProvider,
} from './client-settings.ts'

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
