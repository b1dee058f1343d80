import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPrintableLine } from '../../formats/formats.ts'
import { isSettingName, settingNames } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'

/** The words of a kind; `context` is the first argument before them, such as the persona that owns the memories. */
type Source = (context: string, cli: Cli) => readonly string[] | Promise<readonly string[]>

/** Words that are the same for every installation and server. */
const fixed: Readonly<Record<string, Source>> = {
  aliases: (_, cli) => aliases(cli),
  clients: async () => Object.keys((await import('../connect/clients.ts')).clients),
  'embedding-models': async () => ['builtin', ...(await knownModels('embedding'))],
  languages: async () => (await speechServers()).flatMap(({ languages }) => languages),
  logins: async (_, cli) => {
    const { openLogins } = await import('../../app/logins.ts')
    return openLogins(await cli.settings())
      .read()
      .logins.map(({ server }) => server)
  },
  'mcp-servers': toolServers,
  'models-to-pull': () => knownModels(),
  servers: async () => ['api', ...(await speechServers()).map(({ id }) => id)],
  settings: () => Object.keys(settingNames),
  'setting-values': settingValues,
  'speech-servers': async () => (await speechServers()).map(({ id }) => id),
  templates: async (_, cli) => (await import('../template/store.ts')).templateNames(cli),
  topics: async () => {
    const [{ topicNames }, { commandNames }] = [await import('../help/topics.ts'), await import('../help/overview.ts')]
    return [...topicNames(), ...commandNames()]
  },
  voices: async () =>
    (await speechServers()).flatMap(({ voices, aliases }) => [...voices.map(({ id }) => id), ...Object.keys(aliases)]),
}

/** Words from this installation. */
const here: Readonly<Record<string, Source>> = {
  keys: async (_, cli) => (await plugins(cli)).flatMap(({ key }) => key || []),
  'limit-subjects': async (_, cli) => [
    'all',
    ...(await plugins(cli)).map(({ id }) => `plugin:${id}`),
    ...(await recordsOf('users', cli)).map((name) => `user:${name}`),
    ...(await recordsOf('api-keys', cli)).map((id) => `key:${id}`),
  ],
  models: async (_, cli) => [
    ...(await aliases(cli)),
    ...(await pulledModels(cli, 'chat')).map((name) => `local:${name}`),
    ...(await plugins(cli)).flatMap(({ id, models }) => models.map((model) => `${id}:${model}`)),
  ],
  plugins: async (_, cli) => (await plugins(cli)).map(({ id }) => id),
  'pulled-models': (_, cli) => pulledModels(cli),
}

/** The words of a kind, sorted; none on a failure, since a completion prints no errors. */
export async function wordsOf(cli: Cli, kind: string, context = ''): Promise<readonly string[]> {
  try {
    const words = await unsorted(cli, kind, context)
    return [...new Set(words)].filter((word) => word !== '' && isPrintableLine(word)).sort()
  } catch {
    return []
  }
}

async function unsorted(cli: Cli, kind: string, context: string): Promise<readonly string[]> {
  const source = Object.hasOwn(fixed, kind) ? fixed[kind] : undefined
  if (source) return source(context, cli)
  const { findServer } = await import('../remote/target.ts')
  // A shell that stands still for a server is worse than no words.
  if (await findServer(cli)) return []
  return Object.hasOwn(here, kind) ? here[kind]!(context, cli) : recordsOf(kind, cli, context)
}

/** The values of a setting; none for a text that only the user knows. */
async function settingValues(name: string, cli: Cli): Promise<readonly string[]> {
  if (!isSettingName(name)) return []
  if (['true', 'false'].includes(settingNames[name].fallback)) return ['true', 'false']
  if (name === 'log.level') return ['error', 'warn', 'info', 'debug']
  if (name === 'usage.timezone') return ['UTC', ...Intl.supportedValuesOf('timeZone')]
  if (name === 'chat.titles') return ['words', 'model']
  const kinds: Readonly<Record<string, string>> = {
    'chat.model': 'models',
    'chat.persona': 'personas',
    'local.model': 'pulled-models',
    server: 'logins',
    'speech.voice': 'voices',
  }
  const kind = kinds[name]
  return kind === undefined ? [] : unsorted(cli, kind, '')
}

/** The user's own names for models. */
async function aliases(cli: Cli): Promise<readonly string[]> {
  const { readAliases } = await import('../../settings/model-aliases.ts')
  return [...readAliases((await cli.settings()).paths).keys()]
}

/** The servers of tools, by their file. */
async function toolServers(_context: string, cli: Cli): Promise<readonly string[]> {
  const { config } = (await cli.settings()).paths
  const { servers } = JSON.parse(readFileSync(join(config, 'mcp.json'), 'utf8')) as { servers?: object }
  return Object.keys(servers ?? {})
}

async function recordsOf(kind: string, cli: Cli, context = ''): Promise<readonly string[]> {
  const { isStored, records } = await import('./records.ts')
  return Object.hasOwn(records, kind) && (await isStored(cli)) ? records[kind]!(cli, context) : []
}

async function plugins(cli: Cli) {
  return (await import('./records.ts')).installedPlugins(cli)
}

async function knownModels(kind?: string): Promise<readonly string[]> {
  const { knownModels: all } = await import('../../model-hub/known-models.ts')
  return [...all.values()].filter((model) => kind === undefined || model.kind === kind).map(({ name }) => name)
}

/** The models in the folder of pulled ones; no runner is asked. */
async function pulledModels(cli: Cli, kind?: 'chat'): Promise<readonly string[]> {
  const { modelsFolder } = await cli.settings()
  const [{ openRecords }, { existsSync }] = [await import('../../model-hub/record.ts'), await import('node:fs')]
  if (!existsSync(modelsFolder)) return []
  const records = openRecords(modelsFolder)
  return (await knownModels(kind)).filter((name) => records.read(name))
}

async function speechServers() {
  const { readManifest, serverIds } = await import('../../../speech/servers/manifest.ts')
  return serverIds.map(readManifest)
}
