import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { AppError } from '../errors.ts'
import { isUnusablePath, parseHandWritten, printableLine, suggestion, whyNoFolder } from '../formats/formats.ts'
import { type KeyHosts, looksLikeKey, parseKeyHosts } from '../plugins/plugins.ts'
import { type DatabasePlace, parseDatabaseUrl } from './database-url.ts'
import { parseLifetime } from './duration.ts'
import { folderOf, ignoredFolders, ignoredPath, xdgFolder } from './folders.ts'
import { resolveAlias } from './model-aliases.ts'
import type names from './names.json'

/** PEM files; the certificate's may hold the chain. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** How much one user may have, and one address: see `limitNames`. */
export type Limits = Readonly<Record<keyof typeof limitNames | 'loginAttempts', number>>

export type Paths = ReturnType<typeof pathsOf>

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** Where the value of a setting came from, for `aichat config list`. */
export type Origin = 'environment' | 'credential' | 'file' | 'default'

interface SettingFacts {
  /** The environment variable that overrides the settings file. */
  readonly variable?: string
  readonly fallback: string
  readonly what: string
}

export type SettingName = keyof typeof names

/** The keys of `aichat config set`. */
export const settingNames: Readonly<Record<SettingName, SettingFacts>> = JSON.parse(
  readFileSync(new URL('./src/settings/names.json', import.meta.resolve('#package')), 'utf8'),
)

/** The settings of `Limits` that have no upper bound of their own; `settingNames` says what each bounds. */
const limitNames = {
  importsPerUser: 'limits.imports_per_user',
  storedBytesPerUser: 'limits.stored_bytes_per_user',
  storedMemoriesPerUser: 'limits.stored_memories_per_user',
  requestsPerUser: 'limits.requests_per_user',
  bodyBytesPerUser: 'limits.body_bytes_per_user',
  chatText: 'limits.chat_text',
  apiKeys: 'limits.api_keys',
  apiKeysPerUser: 'limits.api_keys_per_user',
  keptChatsPerUser: 'limits.kept_chats_per_user',
  responsesPerUser: 'limits.responses_per_user',
  responseBytesPerUser: 'limits.response_bytes_per_user',
} as const satisfies Readonly<Record<string, SettingName>>

/**
 * The settings that a running service cannot take over: its listening address, its data folder, and the parameters with
 * which clients of other services, the storage and the ledger's days were opened.
 */
export const restartSettings = {
  'api.host': 'listen',
  'api.port': 'listen',
  'api.console': 'console',
  'plugins.allow_private': 'pluginAllowPrivate',
  'limits.stored_bytes_per_user': 'limits',
  'limits.stored_memories_per_user': 'limits',
  'responses.keep_days': 'responseDays',
  'usage.timezone': 'usageZone',
  'usage.keep_days': 'usageDays',
  'database.grace': 'databaseGrace',
  'local.host': 'ollamaHost',
  'local.model': 'localModel',
  'models.folder': 'modelsFolder',
  'models.hub': 'hubEndpoint',
} as const satisfies Partial<Record<SettingName, keyof Settings>>

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingNames, name)
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Settings by their names, as the settings file holds them. */
export type StoredSettings = Readonly<Record<string, unknown>>

/** The settings of this process. Throws `configuration` naming every bad value. `file` is the stored settings. */
export function readSettings(environment: Environment = process.env, file?: StoredSettings): Settings {
  const paths = pathsOf(environment)
  const stored = file ?? readSettingsFile(paths)
  const { settings, problems } = collect(environment, stored, paths)
  if (problems.length === 0) return Object.freeze(settings)
  const elsewhere = settingProblems(environment, {})
  const isInFile = problems.some((problem) => !elsewhere.includes(problem))
  throw new AppError('configuration', 'Invalid settings', {
    details: [...problems, ...(isInFile ? [`Correct ${settingsFile(paths)}, or run aichat config unset NAME`] : [])],
  })
}

/** A sentence for each value that makes no sense; a program that mends them continues with those that do. */
export function settingProblems(environment: Environment, stored: StoredSettings): readonly string[] {
  try {
    return collect(environment, stored, pathsOf(environment)).problems
  } catch (reason) {
    if (reason instanceof AppError) return [reason.message]
    throw reason
  }
}

/** The settings with a sentence for each value that makes no sense, which is in them as its default or as nothing. */
function collect(environment: Environment, stored: StoredSettings, paths: Paths) {
  const problems: string[] = []
  const value = (name: SettingName) => originOf(name, environment, stored).value
  const count: Count = (name, least, most) => readCount(value(name), name, problems, least, most)
  const isOn = (name: SettingName) => truth(value(name), name, problems)
  const oneOf = <const Words extends readonly string[]>(name: SettingName, ...words: Words) =>
    choice(value(name), name, words, problems)

  const settings = {
    paths,
    /** The environment at start, for settings that name a variable: provider keys. */
    environment: Object.freeze({ ...environment }),
    listen: { host: value('api.host'), port: count('api.port', 0, 65_535) },
    /** The files of the certificate and its key; undefined without TLS. */
    tls: tlsFiles(value('api.tls_cert'), value('api.tls_key'), problems),
    /** How long answers under way may take once the service stops: milliseconds. */
    drainMs: 1000 * count('api.drain_seconds', 0, longestDrain),
    /** Host names, beyond localhost and IP literals, under which the server may be addressed. */
    publicHosts: list(value('api.public_hosts')),
    corsOrigins: list(value('api.cors_origin')),
    trustProxy: list(value('api.trust_proxy')),
    console: isOn('api.console'),
    production: environment['NODE_ENV'] === 'production',
    singleUserMode: isOn('accounts.single_user_mode'),
    allowRegistration: isOn('accounts.allow_registration'),
    /** How long a login lasts: seconds. */
    tokenLifetime: lifetime(value('accounts.token_lifetime'), problems),
    defaultAdmin: { username: value('accounts.admin_username'), email: value('accounts.admin_email') },
    pluginKeyNames: list(value('plugins.key_names')),
    pluginAllowPrivate: isOn('plugins.allow_private'),
    /** Where else the operator lets a key go, in addition to its provider's host: by the name of its variable. */
    pluginKeyHosts: keyHosts(list(value('plugins.key_hosts')), problems),
    pluginLimit: count('plugins.limit'),
    limits: {
      ...(Object.fromEntries(Object.entries(limitNames).map(([field, name]) => [field, count(name)])) as Limits),
      loginAttempts: count('limits.login_attempts', 1, mostLoginAttempts),
    },
    /** The IANA time zone of days, weeks and months in the ledger and in budgets. */
    usageZone: zone(value('usage.timezone'), problems),
    /** Days that single attempts stay in the ledger; their sums stay for good. */
    usageDays: count('usage.keep_days'),
    /** Days that entries of the audit stay; 0 for no end. */
    auditDays: count('audit.keep_days', 0),
    /** Days that responses stay for clients that go on with them; 0 keeps none. */
    responseDays: count('responses.keep_days', 0),
    backup: backup(value, count, problems),
    /** The PostgreSQL database that several instances share; undefined for the one in the data folder. */
    database: database(environment, problems),
    /** Seconds that known logins may go on chatting while that database is away. */
    databaseGrace: count('database.grace', 0, longestGrace),
    ollamaHost: withScheme(value('local.host')),
    /** The model asked of the local runner when the request names none that it has. */
    localModel: value('local.model') || undefined,
    modelsFolder: modelsFolderOf(value('models.folder'), paths),
    hubEndpoint: value('models.hub').replace(/(?<!\/)\/+$/, ''),
    logLevel: oneOf('log.level', 'error', 'warn', 'info', 'debug'),
    server: value('server') || undefined,
    model: withoutAlias(value('chat.model'), paths) || undefined,
    /** No chat, and no text of one, may leave this machine. */
    localOnly: isOn('chat.local_only'),
    persona: value('chat.persona') || undefined,
    voice: value('speech.voice') || undefined,
    /** What a conversation at a terminal does once it fills four fifths of its model's window. */
    compact: oneOf('chat.compact', 'ask', 'auto', 'off'),
    /** Whether a model names a new conversation at a terminal. */
    asksForTitles: oneOf('chat.titles', 'words', 'model') === 'model',
    /** Whether a chat that names no session is kept as one: not where the environment is that of continuous integration. */
    keepsChats: isOn('chat.keep') && !isSet(environment['CI']),
    /** Whether lines typed in conversations are kept for the arrow keys of later ones. */
    chatHistory: isOn('chat.history'),
    /** Codebooks of a frame of speech server C; undefined takes all that its model has. */
    codebooks: value('speech.codebooks') ? count('speech.codebooks', leastCodebooks, mostCodebooks) : undefined,
    /** A file of pronunciations. */
    lexicon: lexicon(value('speech.lexicon'), problems),
    noInput: isSet(environment['AICHAT_NO_INPUT']) || isSet(environment['CI']),
    /** One sentence for each entry of the settings file, and each folder variable, that has no effect. */
    warnings: [
      ...ignoredFolders(environment),
      ...ignoredPath(label('models.folder'), value('models.folder')),
      ...unknownEntries(stored, settingsFile(paths)),
    ],
  }
  return { settings, problems }
}

/**
 * Everything that can be set from outside, read once at start. Nothing else reads `process.env` but `cli/terminal/io.ts`, which is
 * the face of the process itself.
 * The order is: flag, environment, credential, file, default.
 */
export type Settings = Readonly<ReturnType<typeof collect>['settings']>

/** The model that the setting names, by itself or by an alias. */
function withoutAlias(model: string, paths: Paths): string {
  return model === '' ? '' : resolveAlias(model, paths)
}

/** The folder of the models, for the value of its setting; a relative path is ignored. */
export function modelsFolderOf(value: string, paths: Paths): string {
  return isAbsolute(value) ? value : join(paths.data, 'models')
}

/** The warnings on names that no setting has; conf keeps its own entries under `__internal__`. */
export function unknownEntries(stored: StoredSettings, path: string): readonly string[] {
  const names = Object.keys(settingNames)
  return Object.keys(stored)
    .filter((name) => !Object.hasOwn(settingNames, name) && name !== '__internal__')
    .map((name) => {
      // A key may stand there by mistake.
      const shown = looksLikeKey(name) ? 'An entry' : `"${printableLine(name).slice(0, 80)}"`
      return `${shown} in ${path} is no setting and has no effect${suggestion(name, names)}`
    })
}

/** A setting's value and where it came from. */
export function originOf(
  name: SettingName,
  environment: Environment,
  file: StoredSettings,
): { readonly value: string; readonly origin: Origin } {
  const { variable, fallback } = settingNames[name]
  const fromEnvironment = variable && environment[variable]
  if (fromEnvironment !== undefined && fromEnvironment !== '') return { value: fromEnvironment, origin: 'environment' }
  const fromFile = file[name]
  if (fromFile !== undefined) return { value: String(fromFile), origin: 'file' }
  return { value: fallback, origin: 'default' }
}

/** A setting with its value and source, for a list; `live` where a running service takes a change over. */
export interface SettingRow {
  readonly name: string
  readonly value: string
  readonly origin: string
  readonly variable: string | null
  readonly what: string
  readonly live: boolean
}

export function settingRow(name: SettingName, environment: Environment, file: StoredSettings): SettingRow {
  const { variable = null, what } = settingNames[name]
  return { name, ...originOf(name, environment, file), variable, what, live: !Object.hasOwn(restartSettings, name) }
}

/** A secret by the name of its variable: from the environment, `$CREDENTIALS_DIRECTORY/NAME`, or the file named by `NAME_FILE`. */
export function readSecret(
  name: string,
  environment: Environment,
): { readonly value: string; readonly origin: Origin } | undefined {
  const direct = environment[name]
  if (direct) return { value: direct, origin: 'environment' }
  const credentials = folderOf(environment, 'CREDENTIALS_DIRECTORY')
  const credential = credentials && readLine(join(credentials, name))
  if (credential) return { value: credential, origin: 'credential' }
  const path = environment[`${name}_FILE`]
  if (!path) return undefined
  const content = readLine(path)
  if (content === undefined) throw new AppError('configuration', `The file named by ${name}_FILE cannot be read`)
  return content ? { value: content, origin: 'file' } : undefined
}

/** The settings file's path; `config set` writes it. */
export function settingsFile(paths: Paths): string {
  return join(paths.config, 'config.json')
}

/**
 * `AICHAT_HOME`, else the folders systemd gives, else XDG's, all under an id of our own. Variables that are empty or name a
 * relative path are ignored: data would lie wherever a command was started.
 */
export function pathsOf(environment: Environment) {
  const home = folderOf(environment, 'AICHAT_HOME')
  if (home) return { config: home, data: home, state: home, cache: join(home, 'cache') }
  // systemd lists several folders with colons; the first is ours.
  const first = (name: string) => folderOf({ [name]: environment[name]?.split(':')[0] }, name)
  const xdg = (name: string, ...usual: string[]) => join(xdgFolder(environment, name, ...usual), 'aichat-toolkit')
  const state = first('STATE_DIRECTORY')
  return {
    config: first('CONFIGURATION_DIRECTORY') ?? xdg('XDG_CONFIG_HOME', '.config'),
    data: state ?? xdg('XDG_DATA_HOME', '.local', 'share'),
    state: state ?? xdg('XDG_STATE_HOME', '.local', 'state'),
    cache: first('CACHE_DIRECTORY') ?? xdg('XDG_CACHE_HOME', '.cache'),
  }
}

/** The settings file as it is, empty where absent. Throws `configuration` or `cannot_create`. */
export function readSettingsFile(paths: Paths): StoredSettings {
  const path = settingsFile(paths)
  try {
    const content = parseHandWritten(readFileSync(path, 'utf8'))
    if (typeof content === 'object' && content !== null && !Array.isArray(content))
      return content as Record<string, unknown>
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    if (isUnusablePath(reason))
      throw new AppError('cannot_create', `The folder ${paths.config} cannot be made: ${whyNoFolder(reason)}`, {
        cause: reason,
      })
    const isFault = reason instanceof AppError
    const advice = isFault ? 'it is not valid JSON; correct or remove it' : `the system says ${code}`
    const options = { cause: reason, ...(isFault && { details: reason.details }) }
    throw new AppError('configuration', `The settings file ${path} cannot be read: ${advice}`, options)
  }
  throw new AppError('configuration', `The settings file ${path} must hold a JSON object`)
}

function readLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

/** `0`, `false` and the empty text count as not set. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value.toLowerCase() !== 'false'
}

function truth(text: string, name: SettingName, problems: string[]): boolean {
  const value = text.trim().toLowerCase()
  if (['true', '1', 'yes', 'on'].includes(value)) return true
  if (!['false', '0', 'no', 'off'].includes(value)) problems.push(`${label(name)} must be true or false, not "${text}"`)
  return false
}

/** More guesses in 15 minutes would leave a weak password unprotected. */
const mostLoginAttempts = 1000

/** The longest drain: seconds. A supervisor waits no longer for a service. */
const longestDrain = 3600

function tlsFiles(cert: string, key: string, problems: string[]): TlsFiles | undefined {
  if (cert === '' && key === '') return undefined
  if (cert === '' || key === '') problems.push(loneTlsFile())
  return { cert, key }
}

/** The message for one file of TLS without the other, as it is between the two commands that set them. */
export function loneTlsFile(): string {
  return `${label('api.tls_cert')} and ${label('api.tls_key')} belong together`
}

/** A whole number of a setting, by default from 1. */
type Count = (name: SettingName, least?: number, most?: number) => number

function readCount(
  text: string,
  name: SettingName,
  problems: string[],
  least = 1,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const value = Number(text)
  if (/^\d+$/.test(text.trim()) && Number.isSafeInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`
  problems.push(`${label(name)} must be a whole number ${range}, not "${text}"`)
  return least
}

/** Fewer than these were never trained, and more the published model does not have. */
export const [leastCodebooks, mostCodebooks] = [8, 32]

function lexicon(path: string, problems: string[]): string | undefined {
  if (path !== '' && !isAbsolute(path))
    problems.push(`${label('speech.lexicon')} must be an absolute path, not "${path}"`)
  return path || undefined
}

function lifetime(text: string, problems: string[]): number {
  const seconds = parseLifetime(text)
  if (seconds === undefined)
    problems.push(`${label('accounts.token_lifetime')} must be a duration such as 7d, 12h or 30m, not "${text}"`)
  return seconds ?? 0
}

/** The shortest time between two backups: seconds. */
const shortestEvery = 60

/** Days of a century. */
const longestBeforeRestore = 36_500

function backup(value: (name: SettingName) => string, count: Count, problems: string[]) {
  const text = value('backup.every').trim()
  /** Seconds between two that a daemon makes; undefined where it makes none. */
  const every = text === '' ? undefined : parseLifetime(text)
  if (text !== '' && (every === undefined || every < shortestEvery))
    problems.push(`${label('backup.every')} must be a duration from 1m, such as 1d or 6h, not "${text}"`)
  const target = value('backup.target').trim()
  if (target !== '' && !isAbsolute(target))
    problems.push(`${label('backup.target')} must be an absolute folder, not "${target}"`)
  return {
    every,
    /** Scheduled ones that stay. */
    keep: count('backup.keep'),
    /** Days for which the data from before a restore is kept. */
    daysBeforeRestore: count('backup.keep_before_restore_days', 0, longestBeforeRestore),
    /** Undefined for the folder in the data folder. */
    target: target || undefined,
  }
}

/** The longest grace: seconds of an hour. A login that was ended is refused after it at the latest. */
const longestGrace = 3600

function database(environment: Environment, problems: string[]): DatabasePlace | undefined {
  try {
    const text = readSecret('DATABASE_URL', environment)?.value.trim()
    if (!text) return undefined
    const place = parseDatabaseUrl(text)
    if (typeof place !== 'string') return place
    problems.push(`DATABASE_URL ${place}`)
  } catch (reason) {
    problems.push((reason as Error).message)
  }
  return undefined
}

function zone(text: string, problems: string[]): string {
  // To load the zones takes each command some milliseconds.
  if (text === 'UTC') return text
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    problems.push(`${label('usage.timezone')} must be an IANA time zone such as Europe/Berlin, not "${text}"`)
    return 'UTC'
  }
}

/** One of these words; else a problem, and the setting's default. */
function choice<const Words extends readonly string[]>(
  text: string,
  name: SettingName,
  words: Words,
  problems: string[],
): Words[number] {
  if (words.includes(text)) return text
  const list = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  problems.push(`${label(name)} must be ${list}, not "${text.slice(0, 40)}"`)
  return settingNames[name].fallback
}

function keyHosts(entries: readonly string[], problems: string[]): KeyHosts {
  const { hosts, wrong } = parseKeyHosts(entries)
  for (const number of wrong)
    problems.push(
      `${label('plugins.key_hosts')} must hold entries such as OPENAI_API_KEY=127.0.0.1:8080; entry ${number} is invalid`,
    )
  return hosts
}

/** `OLLAMA_HOST` is written with or without a scheme; 0.0.0.0 is where a server listens, not where it is reached. */
function withScheme(host: string): string {
  const url = /^https?:\/\//.test(host) ? host : `http://${host}`
  return url.replace(/(?<!\/)\/+$/, '').replace('//0.0.0.0', '//127.0.0.1')
}

function label(name: SettingName): string {
  const { variable } = settingNames[name]
  return variable ? `${variable} (${name})` : name
}
