import { isPrintableLine } from '../../formats/terminal-text.ts'
import type { Cli } from '../terminal/cli.ts'

/** Word lists by kind, from this installation or the server that commands go to. */
const sources: Readonly<Record<string, (cli: Cli) => Promise<readonly string[]>>> = {
  plugins: async (cli) => (await plugins(cli)).map(({ id }) => id),
  keys: async (cli) => (await plugins(cli)).map(({ auth }) => auth.key_env),
  'api-keys': async (cli) => {
    const { listKeys } = await import('../../operations/keys.ts')
    return (await cli.ask(listKeys, { limit: 1000 })).keys.map(({ id }) => id)
  },
  models: async (cli) => {
    const { listModels } = await import('../../operations/models.ts')
    const { models } = await cli.ask(listModels, {})
    return models.map(({ id, plugin }) => (plugin ? `${plugin}:${id}` : id))
  },
  'models-to-pull': async () => [...(await import('../../model-hub/known-models.ts')).knownModels.keys()],
  'pulled-models': async (cli) => {
    const { listModels } = await import('../../operations/models.ts')
    const { knownModels } = await import('../../model-hub/known-models.ts')
    const { models } = await cli.ask(listModels, { installed: true })
    return models.map(({ id }) => id).filter((id) => knownModels.has(id))
  },
  personas: async (cli) => {
    const { listPersonas } = await import('../../operations/personas.ts')
    return (await cli.ask(listPersonas, {})).personas.map(({ name }) => name)
  },
  sessions: async (cli) => {
    const { listSessions } = await import('../../operations/sessions.ts')
    return (await cli.ask(listSessions, {})).sessions.map(({ name }) => name)
  },
  users: async (cli) => {
    const { listUsers } = await import('../../operations/users.ts')
    return (await cli.ask(listUsers, {})).users.map(({ username }) => username)
  },
  voices: async (cli) => {
    const { listVoicesOfServers } = await import('../../operations/speech.ts')
    const { voices } = await cli.ask(listVoicesOfServers, {})
    return voices.flatMap(({ id, aliases }) => [id, ...aliases])
  },
  settings: async () => Object.keys((await import('../../settings/settings.ts')).settingNames),
  servers: async () => ['api', ...(await speechServers())],
  'speech-servers': speechServers,
  clients: async () => Object.keys((await import('../connect/clients.ts')).clients),
  templates: async (cli) => (await import('../template/store.ts')).templateNames(cli),
  topics: async () => (await import('../help/topics.ts')).topicNames,
}

/**
 * The words of a kind, sorted; none on any failure, since a completion must not print errors. Names with control
 * characters are left out.
 */
export async function wordsOf(cli: Cli, kind: string): Promise<readonly string[]> {
  try {
    const words = await sources[kind]?.(cli)
    return [...new Set(words)].filter((word) => word !== '' && isPrintableLine(word)).sort()
  } catch {
    return []
  }
}

async function plugins(cli: Cli) {
  const { listPlugins } = await import('../../operations/plugins.ts')
  return (await cli.ask(listPlugins, {})).plugins
}

async function speechServers(): Promise<readonly string[]> {
  return (await import('../../../speech/servers/manifest.ts')).serverIds
}
