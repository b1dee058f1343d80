import type { Names } from '../../app/app.ts'
import { isPrintableLine } from '../../formats/formats.ts'
import { isSettingName, settingNames } from '../../settings/settings.ts'
import type { WordCli } from '../terminal/cli.ts'

/** The words of a kind; `context` is the first argument before them, such as the persona that owns the memories. */
type Source = (context: string, cli: WordCli) => readonly string[] | Promise<readonly string[]>

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
  'mcp-servers': async (_, cli) => (await names(cli)).toolServers(),
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

/** Words from this installation, without the areas that commands load. */
const here: Readonly<
  Record<string, (names: Names, context: string, cli: WordCli) => readonly string[] | Promise<readonly string[]>>
> = {
  'api-keys': (names) => names.records('api-keys'),
  backups: (names, persona) => names.records('backups', persona),
  keys: async (names) => (await names.plugins()).flatMap(({ key }) => key ?? []),
  'limit-subjects': async (names) => [
    'all',
    ...(await names.plugins()).map(({ id }) => `plugin:${id}`),
    ...(await names.records('users')).map((name) => `user:${name}`),
    ...(await names.records('api-keys')).map((id) => `key:${id}`),
  ],
  memories: (names, persona) => names.records('memories', persona),
  models: async (names, _, cli) => [
    ...(await aliases(cli)),
    ...(await pulledModels(cli, 'chat')).map((name) => `local:${name}`),
    ...(await names.plugins()).flatMap(({ id, models }) => models.map((model) => `${id}:${model}`)),
  ],
  personas: (names) => names.records('personas'),
  plugins: async (names) => (await names.plugins()).map(({ id }) => id),
  'pulled-models': (_names, _context, cli) => pulledModels(cli),
  sessions: (names) => names.records('sessions'),
  users: (names) => names.records('users'),
}

/**
 * The words of a kind, sorted; none on any failure, since a completion must not print errors. Names with control characters are
 * left out.
 */
export async function wordsOf(cli: WordCli, kind: string, context = ''): Promise<readonly string[]> {
  try {
    const words = await unsorted(cli, kind, context)
    return [...new Set(words)].filter((word) => word !== '' && isPrintableLine(word)).sort()
  } catch {
    return []
  }
}

async function unsorted(cli: WordCli, kind: string, context: string): Promise<readonly string[]> {
  const source = Object.hasOwn(fixed, kind) ? fixed[kind] : undefined
  if (source) return source(context, cli)
  const { findServer } = await import('../remote/target.ts')
  // A shell that stands still for a server is worse than no words.
  if (!Object.hasOwn(here, kind) || (await findServer(cli))) return []
  return here[kind]!(await names(cli), context, cli)
}

/** The values of a setting; none for a text that only the user knows. */
async function settingValues(name: string, cli: WordCli): Promise<readonly string[]> {
  if (!isSettingName(name)) return []
  if (['true', 'false'].includes(settingNames[name].fallback)) return ['true', 'false']
  if (name === 'log.level') return ['error', 'warn', 'info', 'debug']
  if (name === 'usage.timezone') return ['UTC', ...Intl.supportedValuesOf('timeZone')]
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
async function aliases(cli: WordCli): Promise<readonly string[]> {
  const { readAliases } = await import('../../settings/model-aliases.ts')
  return [...readAliases((await cli.settings()).paths).keys()]
}

async function names(cli: WordCli): Promise<Names> {
  return (await import('../../app/names.ts')).openNames(await cli.settings())
}

async function knownModels(kind?: string): Promise<readonly string[]> {
  const { knownModels: all } = await import('../../model-hub/known-models.ts')
  return [...all.values()].filter((model) => kind === undefined || model.kind === kind).map(({ name }) => name)
}

/** The models in the folder of pulled ones; no runner is asked. */
async function pulledModels(cli: WordCli, kind?: 'chat'): Promise<readonly string[]> {
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
