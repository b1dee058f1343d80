import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createSpeechCounts, type SpeechCounts, type SpeechRouter } from '../../speech/speech.ts'
import type { Accounts, ApiKeys, AuditEntry } from '../accounts/accounts.ts'
import type { Backups } from '../backup/backup.ts'
import {
  type ChatCounts,
  createChatCounts,
  createCircuits,
  createHealth,
  createRequestBook,
  type Health,
  type Message,
  type MeteredPlace,
  type RequestBook,
  type Router,
  textOf,
} from '../chat/chat.ts'
import { createKeychain, keychainIndex, openKeychainSecrets } from '../keychain/keychain.ts'
import { createImportCounts, type KeepExchange, type OnBehalf, type Persona } from '../personas/personas.ts'
import {
  allNamesOf,
  createFactBook,
  createKeys,
  createPluginHost,
  type FactBook,
  type Keys,
  type PluginHost,
  type ShippedFacts,
} from '../plugins/plugins.ts'
import { once } from '../process/process.ts'
import { liveSettings, type Settings } from '../settings/settings.ts'
import {
  isStorageAbsent,
  openNote,
  openPlugins,
  openSecretFile,
  openStorage,
  type SecretFile,
  type SharedDatabase,
  type Storage,
  type StorageUse,
  type StoredSize,
} from '../storage/storage.ts'
import { createTokenCounts, type Prices, type TokenCounts } from '../usage/usage.ts'
import type { Chat } from './chat.ts'
import type { Crew, WorkerPlace } from './crew.ts'
import { environmentSecrets } from './environment-secrets.ts'
import type { Models } from './models.ts'
import { packageFolder, shippedFile } from './package-folder.ts'
import type { PackageArea } from './packages.ts'
import type { PersonaArea } from './personas.ts'
import type { createReloader, Reloader } from './reload.ts'
import type { ResponseArea } from './responses.ts'
import type { OwnRecord } from './service-record.ts'
import { storageSettingsOf } from './storage-settings.ts'
import type { ToolServers } from './tool-servers.ts'
import type { UsageArea } from './usage.ts'
import type { Waits } from './waits.ts'

/** The product: one value that every face receives. */
export interface App {
  readonly settings: Settings
  readonly plugins: PluginHost
  /** What each model can hold, see and do. */
  readonly facts: FactBook
  readonly keys: Keys
  readonly secrets: SecretFile
  readonly health: Health
  /** The requests to models under way, and the last ones that ended. */
  readonly requests: RequestBook
  /** The tokens of models since this process began. */
  readonly tokens: TokenCounts
  readonly chats: ChatCounts
  readonly speechCounts: SpeechCounts
  /** The files that were taken in since this process began. */
  readonly imports: ReturnType<typeof createImportCounts>
  /** Ports of this machine where this process serves the API: a plugin that points there would be a loop. */
  readonly ownPorts: Set<number>
  chat(): Promise<Chat>
  /** The providers' model lists and the models on this machine. */
  models(): Promise<Models>
  /** Users and logins. The storage is opened at the first call, and refused with `configuration` when it is damaged. */
  accounts(): Promise<Accounts>
  /** Writes to the audit table where there is a database; a command that cannot tells the listeners, and goes on. */
  record(entry: Omit<AuditEntry, 'at'>): Promise<void>
  /** The keys of programs; opens the storage as `accounts` does. */
  apiKeys(): Promise<ApiKeys>
  /** Personas, their memories, and saved conversations. */
  personas(): Promise<PersonaArea>
  /** Keeps exchanges without a persona, and opens no more for it than the storage. */
  keeping(): Promise<KeepExchange>
  /** Adaptation of personas; their packages and backups. */
  packages(): Promise<PackageArea>
  /** The responses that clients of the Responses API go on with. */
  responses(): Promise<ResponseArea>
  speech(): Promise<SpeechRouter>
  /** Backups of everything; opens no storage. */
  backups(): Promise<Backups>
  toolServers(): Promise<ToolServers>
  prices(): Promise<Prices>
  /** The ledger of usage, prices and limits. */
  usage(): Promise<UsageArea>
  /** The database that instances share; undefined for the one of the data folder. */
  readonly database: SharedDatabase | undefined
  /** Runs work that saves an answer already given, see `Storage`. */
  patiently<R>(work: () => Promise<R>): Promise<R>
  /** The size of the stored data; undefined while no storage is open. */
  storedSize(): Promise<StoredSize | undefined>
  /** Reads the whole storage; resolves with one line about it. Creates none; throws `configuration` for damage. */
  checkStorage(): Promise<string>
  /** Takes over changed settings, secrets and plugins; undefined for a command, which reads them at its start. */
  readonly reloader: Reloader | undefined
  readonly service: OwnRecord | undefined
  /** The workers of this service; undefined where one process serves alone. */
  readonly crew: Crew | undefined
  /** Called with failures behind the answers, such as of models that propose facts; faces add theirs. */
  readonly remarkListeners: Set<RemarkListener>
  /** Ends the removal of deleted rows and the work of models behind answers soon, for a service that stops. */
  deferCleanup(): void
  close(): Promise<void>
}

export type RemarkListener = (message: string, fields: Readonly<Record<string, string>>) => void

export interface AppOptions {
  /** A daemon: it reads the whole storage once at its start. */
  readonly service?: boolean
  /** Changes nothing of a database that instances share, not even its schema. */
  readonly examines?: boolean
  /** How a daemon takes over changes; no command loads it. */
  readonly reloads?: typeof createReloader
  readonly record?: OwnRecord
  readonly crew?: Crew | undefined
  /** A worker of a daemon: jobs behind the answers are those of the daemon's owner. */
  readonly worker?: WorkerPlace
  /** Settings that flags of the command line give, which no file changes. */
  readonly overrides?: Partial<Settings>
  readonly waits?: Waits
}

/**
 * Opens the product. Its plugins are in the database where instances share one, which is opened for them: throws `configuration`
 * where it cannot be used, and `unavailable` where it cannot be reached.
 */
export async function openApp(settings: Settings, options: AppOptions = {}): Promise<App> {
  if (!settings.database) return composeApp(settings, options)
  return composeApp(settings, options, await openStorage(storageSettingsOf(settings), useOf(options)))
}

/** The composition root: opens each area, and the storage where none is given, at first use; closes in reverse. */
export function composeApp(given: Settings, options: AppOptions = {}, shared?: Storage): App {
  const { waits = {}, overrides = {} } = options
  const maintains = options.service === true && options.worker === undefined
  const live = liveSettings({ ...given, ...overrides })
  const { settings } = live
  const { paths } = settings
  const closers: (() => Promise<void> | void)[] = []
  const closing = <T extends { close(): Promise<void> | void }>(area: T): T => {
    closers.push(() => area.close())
    return area
  }
  const secrets = openSecretFile(join(paths.config, 'secrets.json'), { keepsLast: options.service === true })
  // A daemon opens no keychain: there is no user to unlock it.
  const keychain = options.service ? [] : [openKeychainSecrets(keychainIndex(paths), createKeychain())]
  const fromEnvironment = environmentSecrets(settings)
  if (options.service) fromEnvironment.begin()
  const sources = [fromEnvironment, ...keychain, secrets]
  const keys = createKeys(sources, () => plugins.keyRules())
  const storageSettings = storageSettingsOf(settings)
  const store = shared?.plugins ?? openPlugins(storageSettings)
  const plugins: PluginHost = createPluginHost({
    store,
    keys,
    rules: () => ({
      keyNames: settings.pluginKeyNames,
      allowPrivate: settings.pluginAllowPrivate,
      keyHosts: settings.pluginKeyHosts,
      limit: settings.pluginLimit,
    }),
  })
  const facts = createFactBook({
    shipped: () => shippedFile<ShippedFacts>('plugins/shipped-facts.json'),
    clock: Date.now,
    learned: openNote(join(paths.data, 'learned-windows.json')),
  })
  const now = () => performance.now()
  const settled = once(async () => (await import('../storage/files/settled-clock.ts')).openSettledClock(paths.data))
  const circuits = createCircuits(now)
  const health = createHealth(circuits, Date.now)
  const ownPorts = new Set<number>()
  const hop = shared?.shared?.id
  const isListed = ({ plugin, model }: MeteredPlace) =>
    plugin !== null && plugins.find(plugin)?.model_map.includes(model) === true
  const requests = createRequestBook({ now, clock: Date.now })
  const tokens = createTokenCounts(isListed)
  const chats = createChatCounts(isListed)
  const speechCounts = createSpeechCounts()
  const imports = createImportCounts()
  const remarkListeners = new Set<RemarkListener>()
  const onRemark: RemarkListener = (message, fields) => {
    for (const tell of remarkListeners) tell(message, fields)
  }
  const warn = (message: string) => onRemark(message, {})
  let opened = shared
  const storage = once(async () => {
    opened ??= await openStorage(storageSettings, useOf(options))
    return opened
  })
  const isNew = async () => opened === undefined && (await isStorageAbsent(storageSettings))
  const models = once(async () => {
    const { openModels } = await import('./models.ts')
    return closing(openModels({ settings, plugins, store, keys, ownPorts, hop, now }))
  })
  const personas: App['personas'] = once(async () => {
    const [stores, { openPersonas }, { pulledEmbedders }] = await Promise.all([
      storage(),
      import('./personas.ts'),
      models(),
    ])
    const vectorFile = join(packageFolder('dist'), 'data', 'word-vectors.bin')
    const isService = options.service === true
    const { redact } = keys
    personaArea = await openPersonas({
      ...{
        storage: stores,
        settings,
        plugins,
        packages,
        vectorFile,
        pulledEmbedders,
        redact,
        isService,
        maintains,
        waits,
        settledClock: await settled(),
      },
      ask: async (persona, messages, by, signal) => askOwnModel((await chat()).router, persona, messages, by, signal),
      onRemark,
    })
    return closing(personaArea)
  })
  let personaArea: PersonaArea | undefined
  const chat: App['chat'] = once(async () => {
    const [{ openChat }, { embedded }, { metering }] = await Promise.all([import('./chat.ts'), models(), usage()])
    return closing(
      openChat({
        settings,
        plugins,
        facts,
        keys,
        health,
        counts: chats,
        circuits,
        ownPorts,
        hop,
        embedded,
        metering,
        waits,
      }),
    )
  })
  const packages: App['packages'] = once(async () => {
    const [stores, { openPackages }, area] = await Promise.all([storage(), import('./packages.ts'), personas()])
    return openPackages({ storage: stores, storageSettings, settings, personas: area.personas })
  })

  let responseArea: ResponseArea | undefined
  const responses: App['responses'] = once(async () => {
    const [stores, { openResponses }] = await Promise.all([storage(), import('./responses.ts')])
    responseArea = openResponses({
      store: stores.responses,
      settings,
      settledClock: await settled(),
      maintains,
    })
    return responseArea
  })

  const prices: App['prices'] = once(async () => {
    const [stores, { openPrices }] = await Promise.all([storage(), import('./prices.ts')])
    return openPrices({ storage: stores, now, warn })
  })
  const usage: App['usage'] = once(async () => {
    // A command on an installation without a database makes none to note a chat. Where there is one, limits and prices of
    // the operator may are in it.
    const isFirst = options.service !== true && (await isNew())
    const [{ openUsage }] = await Promise.all([import('./usage.ts'), isFirst ? undefined : storage()])
    const list = isFirst ? (await import('./prices.ts')).openShippedPrices() : await prices()
    const isService = options.service === true
    const stores = { storage: () => opened, openStorage: storage, prices: list }
    return closing(
      await openUsage({
        ...{ settings, plugins, ...stores, tokens, isService, maintains, now, warn, desk: options.worker?.desk },
        settledClock: await settled(),
      }),
    )
  })

  const accounts: App['accounts'] = once(async () => {
    const [stores, { openAccounts }] = await Promise.all([storage(), import('./accounts.ts')])
    const area = closing(openAccounts(settings, stores, maintains ? await settled() : undefined))
    reloader?.parts.add(area.prepareReload)
    // Another instance may have ended logins of streams that are open here.
    stores.shared?.onChange('accounts', area.accounts.logins.sweep)
    return area.accounts
  })

  const reloader = options.reloads
    ? options.reloads({
        live,
        overrides,
        reloadSecrets() {
          secrets.check()
          return fromEnvironment.reload()
        },
        reloadPlugins: () => plugins.reload(),
      })
    : undefined

  return {
    settings,
    plugins,
    facts,
    keys,
    secrets,
    health,
    requests,
    tokens,
    chats,
    speechCounts,
    imports,
    ownPorts,
    models,
    personas,
    keeping: once(async () => {
      const [{ conversations: store }, { createKeeping }] = await Promise.all([
        storage(),
        import('../personas/chat/keep-exchange.ts'),
      ])
      return createKeeping({ store, mostKept: settings.limits.keptChatsPerUser, clock: Date.now })
    }),
    packages,
    chat,
    responses,
    reloader,
    service: options.record,
    crew: options.crew,
    remarkListeners,
    accounts,
    async record(entry) {
      if (options.service) return (await accounts()).record(entry)
      try {
        if (!(await isNew())) await (await accounts()).record(entry)
      } catch (reason) {
        onRemark('what was done is not in the audit', { reason: (reason as Error).message })
      }
    },
    prices,
    usage,
    apiKeys: once(async () => {
      const [{ keys }, { openApiKeys }] = await Promise.all([storage(), import('./accounts.ts')])
      return closing(openApiKeys(settings, keys))
    }),
    speech: once(async () => {
      const { openSpeech } = await import('./speech.ts')
      return closing(openSpeech({ settings, plugins, keys, hop, counts: speechCounts })).router
    }),
    backups: once(async () => {
      const { openBackups } = await import('./backups.ts')
      return openBackups({
        settings,
        storage: storageSettings,
        secret: async (name) => sources.find((source) => source.has(name))?.get(name),
        keyNames() {
          const names = [...plugins.list().flatMap(allNamesOf), ...secrets.names()]
          return [...new Set(names)].filter((name) => keys.originOf(name) !== undefined).sort()
        },
      })
    }),
    toolServers: once(async () => {
      const { openToolServers } = await import('./tool-servers.ts')
      return closing(openToolServers(settings, { ownPorts }))
    }),
    database: shared?.shared,
    patiently: (work) => (opened ? opened.patiently(work) : work()),
    storedSize: async () => opened?.size(),
    async checkStorage() {
      const examined = await openStorage(storageSettings, { create: false })
      try {
        return await examined.check()
      } finally {
        await examined.close()
      }
    },
    deferCleanup() {
      opened?.deferCleanup()
      personaArea?.stop()
    },
    async close() {
      // Before the areas that it asks.
      await responseArea?.close()
      await personaArea?.settle()
      for (const close of closers.reverse()) await close()
      // Last: areas that were opened before it may still write.
      await opened?.close()
    },
  }
}

/** Tokens of an answer behind the chat: a few facts, or a line. */
const behindTokens = 1_000

/** Asks a persona's own model for a short text; another model than the user chose for it is not asked. */
async function askOwnModel(
  router: Router,
  { model, user_id: user }: Persona,
  messages: readonly Message[],
  by: OnBehalf,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly model: string }> {
  const request = { model, messages, max_tokens: behindTokens }
  const { reply, report } = await router.complete({ ...by, request, user, fallback: false, purpose: 'persona' }, signal)
  return { text: textOf(reply.choices[0]?.message.content), model: report.model }
}

function useOf({ service = false, examines = false, worker }: AppOptions): StorageUse {
  return { service, ...(worker && { isChecked: true }), ...(examines && { create: false }) }
}
