import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { AppError } from '../errors.ts'
import { isUnusablePath, parseHandWritten, printableLine, suggestion, whyNoFolder } from '../formats/formats.ts'
import { type KeyHosts, looksLikeKey, parseKeyHosts } from '../plugins/plugins.ts'
import { type DatabasePlace, parseDatabaseUrl } from './database-url.ts'
import { parseLifetime } from './duration.ts'
import { folderOf, ignoredFolders, ignoredPath, xdgFolder } from './folders.ts'
import { resolveAlias } from './model-aliases.ts'

/** PEM files; the certificate's may hold the chain. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** How much one user may have, and one address: see `limitNames`. */
export type Limits = Readonly<Record<keyof typeof limitNames | 'loginAttempts', number>>

/** Backups of everything. */
export interface BackupSettings {
  /** Seconds between two that a daemon makes; undefined where it makes none. */
  readonly every: number | undefined
  /** Scheduled ones that stay. */
  readonly keep: number
  /** Days for which the data from before a restore is kept. */
  readonly daysBeforeRestore: number
  /** Undefined for the folder in the data folder. */
  readonly target: string | undefined
}

export interface Paths {
  readonly config: string
  readonly data: string
  readonly state: string
  readonly cache: string
}

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** Where the value of a setting came from, for `aichat config list`. */
export type Origin = 'environment' | 'credential' | 'file' | 'default'

/** The keys of `aichat config set`, each with the environment variable that overrides the settings file. */
export const settingNames = {
  'api.host': { variable: undefined, fallback: '127.0.0.1', what: 'address the API listens on' },
  'api.port': { variable: undefined, fallback: '3001', what: 'port the API listens on' },
  'api.tls_cert': {
    variable: 'AICHAT_TLS_CERT',
    fallback: '',
    what: 'PEM file of the certificate, with its chain; the servers then speak https',
  },
  'api.tls_key': { variable: 'AICHAT_TLS_KEY', fallback: '', what: 'PEM file of the key of that certificate' },
  'api.drain_seconds': {
    variable: 'AICHAT_DRAIN_SECONDS',
    fallback: '30',
    what: 'seconds that answers under way may take once the service is told to stop',
  },
  'api.public_hosts': {
    variable: 'PUBLIC_HOSTS',
    fallback: '',
    what: 'host names the API may be addressed by, comma-separated',
  },
  'api.cors_origin': {
    variable: 'CORS_ORIGIN',
    fallback: '',
    what: 'web origins that may call the API, comma-separated',
  },
  'api.trust_proxy': {
    variable: 'TRUST_PROXY',
    fallback: '',
    what: 'addresses of proxies whose X-Forwarded-For is believed, comma-separated',
  },
  'api.console': { variable: undefined, fallback: 'true', what: 'serve the web console at /console' },
  'accounts.single_user_mode': {
    variable: 'SINGLE_USER_MODE',
    fallback: 'false',
    what: 'only the default administrator may log in',
  },
  'accounts.allow_registration': {
    variable: 'ALLOW_REGISTRATION',
    fallback: 'true',
    what: 'anyone may create an account',
  },
  'accounts.token_lifetime': { variable: 'JWT_EXPIRES_IN', fallback: '7d', what: 'how long a login lasts' },
  'accounts.admin_username': {
    variable: 'DEFAULT_ADMIN_USERNAME',
    fallback: 'admin',
    what: 'name of the default administrator',
  },
  'accounts.admin_email': {
    variable: 'DEFAULT_ADMIN_EMAIL',
    fallback: 'admin@localhost',
    what: 'address of the default administrator',
  },
  'plugins.key_names': {
    variable: 'PLUGIN_KEY_ENVS',
    fallback: '',
    what: 'further variables that a plugin may name as its key, comma-separated',
  },
  'plugins.allow_private': {
    variable: 'PLUGIN_ALLOW_PRIVATE',
    fallback: 'true',
    what: 'plugins may point at private addresses',
  },
  'plugins.key_hosts': {
    variable: 'PLUGIN_KEY_HOSTS',
    fallback: '',
    what: "addresses that a key may go to beside its provider's, such as OPENAI_API_KEY=127.0.0.1:8080, comma-separated",
  },
  'plugins.limit': {
    variable: 'PLUGIN_LIMIT',
    fallback: '500',
    what: 'the most plugins in all, bundled ones included',
  },
  'limits.login_attempts': {
    variable: 'AICHAT_LIMIT_LOGIN_ATTEMPTS',
    fallback: '5',
    what: 'failed logins after which an address is refused for 15 minutes; a new password of a user who failed there ends that',
  },
  'limits.imports_per_user': {
    variable: 'AICHAT_LIMIT_IMPORTS_PER_USER',
    fallback: '2',
    what: 'persona packages that one user may have taken in at the same time',
  },
  'limits.stored_bytes_per_user': {
    variable: 'AICHAT_LIMIT_STORED_BYTES_PER_USER',
    fallback: '10737418240',
    what: 'bytes that one user may store in personas and their backups',
  },
  'limits.stored_memories_per_user': {
    variable: 'AICHAT_LIMIT_STORED_MEMORIES_PER_USER',
    fallback: '1000000',
    what: 'memories that one user may store over all personas',
  },
  'limits.requests_per_user': {
    variable: 'AICHAT_LIMIT_REQUESTS_PER_USER',
    fallback: '128',
    what: 'requests that one user may have under way at the same time',
  },
  'limits.body_bytes_per_user': {
    variable: 'AICHAT_LIMIT_BODY_BYTES_PER_USER',
    fallback: '134217728',
    what: "bytes that the bodies of one user's requests under way may have in all",
  },
  'limits.chat_text': {
    variable: 'AICHAT_LIMIT_CHAT_TEXT',
    fallback: '8388608',
    what: 'characters of text that one chat may have, pictures and files left out',
  },
  'limits.api_keys': {
    variable: 'AICHAT_LIMIT_API_KEYS',
    fallback: '10000',
    what: 'live API keys of all users together',
  },
  'limits.api_keys_per_user': {
    variable: 'AICHAT_LIMIT_API_KEYS_PER_USER',
    fallback: '100',
    what: 'live API keys that one user may have',
  },
  'limits.kept_chats_per_user': {
    variable: 'AICHAT_LIMIT_KEPT_CHATS_PER_USER',
    fallback: '10000',
    what: 'single questions that are kept of one user as sessions; beyond, the oldest go that were not renamed or continued',
  },
  'limits.responses_per_user': {
    variable: 'AICHAT_LIMIT_RESPONSES_PER_USER',
    fallback: '2000',
    what: 'responses of /v1/responses that are kept of one user; the longest unused go first',
  },
  'limits.response_bytes_per_user': {
    variable: 'AICHAT_LIMIT_RESPONSE_BYTES_PER_USER',
    fallback: '268435456',
    what: 'bytes that those responses may have in all',
  },
  'responses.keep_days': {
    variable: 'AICHAT_RESPONSES_KEEP_DAYS',
    fallback: '30',
    what: 'days that responses of /v1/responses are kept, for clients that go on with them; 0 keeps none',
  },
  'usage.timezone': {
    variable: 'AICHAT_USAGE_TIMEZONE',
    fallback: 'UTC',
    what: 'time zone of the days, weeks and months of usage and budgets, such as Europe/Berlin',
  },
  'usage.keep_days': {
    variable: 'AICHAT_USAGE_KEEP_DAYS',
    fallback: '400',
    what: 'days that single requests stay in the usage ledger; their sums stay for good',
  },
  'audit.keep_days': {
    variable: 'AICHAT_AUDIT_KEEP_DAYS',
    fallback: '365',
    what: 'days that entries of the audit stay, the newest 100,000 of them; 0 removes none for its age',
  },
  'backup.every': {
    variable: 'AICHAT_BACKUP_EVERY',
    fallback: '',
    what: 'how often the daemon backs up everything, such as 1d or 6h; empty for never',
  },
  'backup.keep': {
    variable: 'AICHAT_BACKUP_KEEP',
    fallback: '7',
    what: 'backups of the daemon that are kept; older ones are removed',
  },
  'backup.keep_before_restore_days': {
    variable: 'AICHAT_BACKUP_KEEP_BEFORE_RESTORE_DAYS',
    fallback: '30',
    what: 'days for which the data from before a restore is kept',
  },
  'backup.target': {
    variable: 'AICHAT_BACKUP_TARGET',
    fallback: '',
    what: 'folder in which backups of everything are kept',
  },
  'database.grace': {
    variable: 'AICHAT_DB_GRACE',
    fallback: '30',
    what: 'seconds that chats of checked logins go on while the database of DATABASE_URL is away; 0 for none',
  },
  'local.host': { variable: 'OLLAMA_HOST', fallback: '127.0.0.1:11434', what: 'address of the local model runner' },
  'local.model': { variable: undefined, fallback: '', what: 'model asked of the local runner by default' },
  'models.folder': { variable: 'AICHAT_MODELS_DIR', fallback: '', what: 'folder of downloaded models' },
  'models.hub': { variable: 'HF_ENDPOINT', fallback: 'https://huggingface.co', what: 'address of the model hub' },
  'log.level': {
    variable: 'AICHAT_LOG_LEVEL',
    fallback: 'info',
    what: 'how much is logged: error, warn, info or debug',
  },
  'chat.model': { variable: 'AICHAT_MODEL', fallback: '', what: 'model asked when none is named' },
  'chat.local_only': {
    variable: 'AICHAT_LOCAL_ONLY',
    fallback: 'false',
    what: 'chats and their embeddings never leave this machine',
  },
  'chat.persona': { variable: 'AICHAT_PERSONA', fallback: '', what: 'persona used when none is named' },
  'chat.keep': {
    variable: 'AICHAT_CHAT_KEEP',
    fallback: 'on',
    what: 'keep every chat as a session: on or off',
  },
  'chat.compact': {
    variable: 'AICHAT_CHAT_COMPACT',
    fallback: 'ask',
    what: 'a conversation that fills four fifths of the window: ask says so, auto has it summarised, off does neither',
  },
  'chat.titles': {
    variable: 'AICHAT_CHAT_TITLES',
    fallback: 'words',
    what: 'names of new conversations at a terminal: words takes the first words, model asks for a title after the first answer (a further request of some hundred tokens)',
  },
  'chat.history': {
    variable: 'AICHAT_CHAT_HISTORY',
    fallback: 'on',
    what: 'keep the lines typed in conversations, for the arrow keys and Ctrl-R of later ones',
  },
  'speech.codebooks': {
    variable: 'AICHAT_SPEECH_CODEBOOKS',
    fallback: '',
    what: 'codebooks of voxb-tts-1.6b, 8 to 32: fewer are faster and sound coarser',
  },
  'speech.lexicon': {
    variable: 'AICHAT_SPEECH_LEXICON',
    fallback: '',
    what: 'a file of pronunciations: a line is word = words, or word = /phonemes/',
  },
  'speech.voice': { variable: 'AICHAT_VOICE', fallback: '', what: 'voice used when none is named' },
  server: { variable: 'AICHAT_SERVER', fallback: '', what: 'address of the daemon that commands are sent to' },
} as const

export type SettingName = keyof typeof settingNames

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

/**
 * The settings of this process. Throws a `configuration` AppError that names every value that makes no sense.
 * `file` is the content of the settings file as `config set` wrote it.
 */
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
    listen: { host: value('api.host'), port: port(value('api.port'), 'api.port', problems) },
    /** The files of the certificate and its key; undefined without TLS. */
    tls: tlsFiles(value('api.tls_cert'), value('api.tls_key'), problems),
    /** How long answers under way may take once the service stops: milliseconds. */
    drainMs: 1000 * count('api.drain_seconds', 0, longestDrain),
    /** Host names, beyond localhost and IP literals, under which the server may be addressed. */
    publicHosts: list(value('api.public_hosts')),
    corsOrigins: list(value('api.cors_origin')),
    trustProxy: list(value('api.trust_proxy')),
    /** Whether the API serves the web console. */
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
    /** The most plugins in all. */
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
    codebooks: codebooks(value('speech.codebooks'), problems),
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
  const { variable = null, what } = settingNames[name] as { readonly variable?: string; readonly what: string }
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
export function pathsOf(environment: Environment): Paths {
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

/**
 * The settings file as it is; an absent one is empty. Throws `configuration` for a broken one, and `cannot_create` where its
 * folder can never be one.
 */
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

function port(text: string, name: SettingName, problems: string[]): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= 65535) return value
  problems.push(`${label(name)} must be a port from 0 to 65535, not "${text}"`)
  return 0
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

function codebooks(text: string, problems: string[]): number | undefined {
  const value = Number(text)
  if (text === '' || (/^\d+$/.test(text) && value >= leastCodebooks && value <= mostCodebooks))
    return value || undefined
  problems.push(
    `${label('speech.codebooks')} must be a whole number from ${leastCodebooks} to ${mostCodebooks}, not "${text}"`,
  )
  return undefined
}

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

function backup(value: (name: SettingName) => string, count: Count, problems: string[]): BackupSettings {
  const text = value('backup.every').trim()
  const every = text === '' ? undefined : parseLifetime(text)
  if (text !== '' && (every === undefined || every < shortestEvery))
    problems.push(`${label('backup.every')} must be a duration from 1m, such as 1d or 6h, not "${text}"`)
  const target = value('backup.target').trim()
  if (target !== '' && !isAbsolute(target))
    problems.push(`${label('backup.target')} must be an absolute folder, not "${target}"`)
  return {
    every,
    keep: count('backup.keep'),
    daysBeforeRestore: count('backup.keep_before_restore_days', 0, longestBeforeRestore),
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
