import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import type { Client } from './client.ts'
import { claudeVariables, codexProvider, opencodeEdits, shellWord } from './client-settings.ts'

/**
 * The clients by their names on the command line. Their settings: openai/codex `docs/config.md`; code.claude.com/docs
 * (settings, llm-gateway); opencode.ai/docs/config; aider.chat/docs/config.
 */
export const clients: Readonly<Record<string, Client>> = {
  codex: {
    name: 'Codex',
    speaks: 'responses',
    programs: ['codex'],
    file: (pointing, { codexFolder, printFile }) => {
      const [command, ...args] = printFile(pointing.keyFile)
      return {
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
      }
    },
  },
  claude: {
    name: 'Claude Code',
    speaks: 'messages',
    programs: ['claude'],
    environment: (pointing) => ({
      ...claudeVariables(pointing),
      ANTHROPIC_AUTH_TOKEN: pointing.key,
      ANTHROPIC_API_KEY: undefined,
    }),
    file: (pointing, { claudeFolder, printFile }) => ({
      path: join(claudeFolder, 'settings.json'),
      format: 'json',
      edits: [
        ...Object.entries(claudeVariables(pointing)).map(([name, value]) => ({ path: ['env', name], value })),
        { path: ['apiKeyHelper'], value: printFile(pointing.keyFile).map(shellWord).join(' ') },
      ],
    }),
  },
  opencode: {
    name: 'opencode',
    speaks: 'chat',
    programs: ['opencode'],
    file: (pointing, { opencodeFile }) => ({
      path: opencodeFile,
      format: 'json',
      edits: opencodeEdits(pointing, `{file:${pointing.keyFile}}`),
    }),
  },
  aider: {
    name: 'aider',
    speaks: 'chat',
    programs: ['aider'],
    environment: ({ server, key, model }) => ({
      OPENAI_API_BASE: `${server}/v1`,
      OPENAI_API_KEY: key,
      AIDER_MODEL: `openai/${model.id}`,
    }),
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
