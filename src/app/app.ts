import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import type { SpeechRouter } from '../../speech/router.ts'
import type { ServiceOptions, SpeechService } from '../../speech/service.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Secrets } from '../accounts/tokens.ts'
import { createCircuits } from '../chat/circuit.ts'
import { createHealth, type Health } from '../chat/health.ts'
import type { Router } from '../chat/router.ts'
import type { Send } from '../http/send.ts'
import { createKeychain } from '../keychain/keychain.ts'
import { keychainIndex, openKeychainSecrets } from '../keychain/keychain-secrets.ts'
import { defaultChatModel } from '../model-hub/known-models.ts'
import { createPluginHost, type PluginHost } from '../plugins/host.ts'
import { createKeys, type Keys } from '../plugins/keys.ts'
import type { PluginManifest } from '../plugins/manifest.ts'
import type { OllamaRunner } from '../runners/ollama.ts'
import type { OnnxRunner } from '../runners/onnx-runner.ts'
import { readSecret, type Settings } from '../settings/settings.ts'
import { openPluginFiles } from '../storage/files/plugins.ts'
import { openSecretFile, type SecretFile } from '../storage/files/secrets.ts'
import type { Database } from '../storage/sqlite/connection.ts'
import type { Models } from './models.ts'
import type { PackageArea } from './packages.ts'
import type { PersonaArea } from './personas.ts'

/** What chats need; loaded at the first chat, since the HTTP client costs a list command more than its own work. */
export interface Chat {
  readonly router: Router
  readonly ollama: OllamaRunner
  readonly embedded: OnnxRunner
  /** The way out to the providers. */
  readonly send: Send
}

/** The product: one value that every face receives. */
export interface App {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly keys: Keys
  readonly secrets: SecretFile
  readonly health: Health
  /** Ports of this machine where this process serves the API: a plugin that points there would ask itself for ever. */
  readonly ownPorts: Set<number>
  chat(): Promise<Chat>
  /** The providers' model lists and the models on this machine. */
  models(): Promise<Models>
  /** Users and logins; the database is opened at the first call, and refused with `configuration` when it is damaged. */
  accounts(): Promise<Accounts>
  /** Personas, their memories, and saved conversations, in the same database. */
  personas(): Promise<PersonaArea>
  /** What personas learn, and whole personas that come and go. */
  packages(): Promise<PackageArea>
  speech(): Promise<SpeechRouter>
  /** Has what can be done at the next start end soon, such as the removal of what has left: for a service that stops. */
  leaveRest(): void
  close(): Promise<void>
}

/** Folders that ship with the package, the same from the sources and from the build. */
export function packageFolder(name: string): string {
  return fileURLToPath(new URL(`./${name}/`, import.meta.resolve('#package')))
}

export interface AppOptions {
  /** A daemon: it reads the whole database once at its start. */
  readonly service?: boolean
}

/** The composition root: the one place that knows the areas and what they stand on. */
export function openApp(settings: Settings, options: AppOptions = {}): App {
  const secrets = openSecretFile(join(settings.paths.config, 'secrets.json'))
  const closers: (() => Promise<void> | void)[] = []
  const resting: (() => void)[] = []
  // A service opens no keychain: nobody sits there to unlock it.
  const keychain = options.service ? [] : [openKeychainSecrets(keychainIndex(settings.paths), createKeychain())]
  const keys = createKeys([environmentSecrets(settings), ...keychain, secrets], () => plugins.keyRules())
  const store = openPluginFiles(packageFolder('plugins'), join(settings.paths.data, 'plugins'))
  const plugins: PluginHost = createPluginHost({
    store,
    keys,
    keyNames: settings.pluginKeyNames,
    allowPrivate: settings.pluginAllowPrivate,
    keyHosts: settings.pluginKeyHosts,
    limit: settings.pluginLimit,
  })
  const now = () => performance.now()
  const circuits = createCircuits(now)
  const health = createHealth(circuits, Date.now)
  const ownPorts = new Set<number>()
  const databasePath = join(settings.paths.data, 'aichat.db')
  const database = once(openDatabaseFile)
  const personas = once(openPersonaArea)
  const packages = once(openPackageArea)
  const models = once(openModelArea)

  return {
    settings,
    plugins,
    keys,
    secrets,
    health,
    ownPorts,
    chat: once(openChat),
    models,
    accounts: once(openAccounts),
    personas,
    packages,
    speech: once(openSpeech),
    leaveRest() {
      for (const leave of resting) leave()
    },
    async close() {
      for (const close of closers.reverse()) await close()
    },
  }

  async function openSpeech(): Promise<SpeechRouter> {
    const [{ openHttpClient }, { createSpeechRouter }, { openSpeechService }] = await Promise.all([
      import('../http-client/agent.ts'),
      import('../../speech/router.ts'),
      import('../../speech/service.ts'),
    ])
    const outbound = openHttpClient({ allowPrivate: settings.pluginAllowPrivate })
    const services = new Map<string, SpeechService>()
    closers.push(async () => {
      await outbound.close()
      await Promise.all([...services.values()].map((service) => service.close()))
    })
    return createSpeechRouter({
      plugins: () => plugins.list().filter(({ type }) => type === 'tts'),
      active: () => plugins.active('tts'),
      keyHeader: keys.headerFor,
      send: outbound.send,
      open(server, variant) {
        const key = `${server} ${variant ?? ''}`
        const service = services.get(key) ?? openSpeechService({ ...speechPlaces(settings), server, variant })
        services.set(key, service)
        return service
      },
    })
  }

  /** The one connection of this process, for every store. */
  async function openDatabaseFile(): Promise<Database> {
    const [{ openDatabase }, { leaveRest }] = await Promise.all([
      import('../storage/sqlite/database.ts'),
      import('../storage/sqlite/housekeeping.ts'),
    ])
    const db = await openDatabase(databasePath, { check: options.service === true })
    resting.push(() => leaveRest(db))
    closers.push(() => void db.close())
    return db
  }

  async function openAccounts(): Promise<Accounts> {
    const [db, { openAccountStore }, { ownTokenSecret }, { createAccounts }, { createPasswords }, tokens] =
      await Promise.all([
        database(),
        import('../storage/sqlite/accounts.ts'),
        import('../storage/files/token-secret.ts'),
        import('../accounts/accounts.ts'),
        import('../accounts/passwords.ts'),
        import('../accounts/tokens.ts'),
      ])
    return createAccounts({
      store: openAccountStore(db, databasePath),
      passwords: createPasswords(),
      tokens: tokens.createTokens(tokenSecrets, Date.now),
      rules: {
        singleUserMode: settings.singleUserMode,
        allowRegistration: settings.allowRegistration,
        lifetime: settings.tokenLifetime,
        administrator: settings.defaultAdmin,
        production: settings.production,
      },
      secretWarnings: () => tokens.secretProblems(readSecret('JWT_SECRET', settings.environment)?.value),
      initialPassword: () => readSecret('DEFAULT_ADMIN_PASSWORD', settings.environment)?.value,
      now,
      clock: Date.now,
      newId: randomUUID,
    })

    /** JWT_SECRET, which production demands and judges, else one of our own; and the one before it. */
    function tokenSecrets(): Secrets {
      const given = readSecret('JWT_SECRET', settings.environment)?.value
      const previous = readSecret('JWT_SECRET_PREVIOUS', settings.environment)?.value
      if (settings.production)
        tokens.refuseWeakSecret(given === undefined ? ['JWT_SECRET is not set'] : tokens.secretProblems(given))
      const current = given ?? ownTokenSecret(join(settings.paths.data, 'token-secret'))
      return previous === undefined ? [current] : [current, previous]
    }
  }

  async function openPersonaArea(): Promise<PersonaArea> {
    const [db, { openPersonas }, { sweepScratch }, { minilm }] = await Promise.all([
      database(),
      import('./personas.ts'),
      import('../personas/package/scratch.ts'),
      models(),
    ])
    sweepScratch(join(settings.paths.state, 'packages'))
    // A persona may be looked at without any runner: the HTTP client is loaded when one is asked.
    const outbound = once(async () => {
      const opened = (await import('../http-client/agent.ts')).openHttpClient({ allowPrivate: true })
      closers.push(() => opened.close())
      return opened
    })
    const area = await openPersonas({
      db,
      settings,
      packages,
      send: async (request) => (await outbound()).send(request),
      vectorFile: join(packageFolder('dist'), 'data', 'word-vectors.bin'),
      minilm,
      contextTokens: (model, plugin) => contextTokens(plugins, model, plugin),
      isService: options.service === true,
      now,
      clock: Date.now,
    })
    closers.push(() => area.close())
    return area
  }

  async function openPackageArea(): Promise<PackageArea> {
    const [db, { openPackages }, area] = await Promise.all([database(), import('./packages.ts'), personas()])
    return openPackages({ db, settings, personas: area.personas, defaultModel: () => settings.model, clock: Date.now })
  }

  async function openModelArea(): Promise<Models> {
    const { openModels } = await import('./models.ts')
    const area = openModels({ settings, plugins, store, keys, ownPorts, now })
    closers.push(area.close)
    return area
  }

  async function openChat(): Promise<Chat> {
    const [
      { openHttpClient },
      { createAttempts },
      { httpTarget },
      { createRouter },
      { createOllamaRunner },
      { dialectFor },
      { embedded },
    ] = await Promise.all([
      import('../http-client/agent.ts'),
      import('../chat/attempts.ts'),
      import('../chat/provider.ts'),
      import('../chat/router.ts'),
      import('../runners/ollama.ts'),
      import('../chat/dialects/dialects.ts'),
      models(),
    ])
    const outbound = openHttpClient({ allowPrivate: settings.pluginAllowPrivate, ownPorts })
    // The local runner's address is the operator's own word and may always be private.
    const local = settings.pluginAllowPrivate ? outbound : openHttpClient({ allowPrivate: true })
    closers.push(() => outbound.close())
    if (local !== outbound) closers.push(() => local.close())
    const ollama = createOllamaRunner({
      url: settings.ollamaHost,
      preferred: settings.localModel,
      send: local.send,
      dialect: dialectFor('ollama', settings.ollamaHost),
      now,
    })
    const targets = new WeakMap<PluginManifest, Map<string, ReturnType<typeof httpTarget>>>()
    const router = createRouter({
      find: (id) => plugins.find(id),
      active: () => plugins.active('chat'),
      target(manifest, model) {
        // A plugin that is read anew is another object: old targets go with it.
        const known = targets.get(manifest) ?? new Map<string, ReturnType<typeof httpTarget>>()
        targets.set(manifest, known)
        const target =
          known.get(model) ??
          httpTarget({
            manifest,
            model,
            runner: null,
            dialect: dialectFor(manifest.api, manifest.endpoint),
            send: outbound.send,
            keyHeader: (url) => keys.headerFor(manifest, url),
          })
        if (known.size < 1000) known.set(model, target)
        return target
      },
      async local(model) {
        // A pulled model that is asked for by its name answers, whatever else runs.
        const names = model !== undefined && embedded.models().includes(model) ? await ollama.models() : undefined
        const pulled = names?.every(({ name }) => name !== model && name !== `${model}:latest`)
        return (pulled ? undefined : await ollama.target(model)) ?? embedded.target(model)
      },
      advice: (failed) => advice(settings, plugins, failed, embedded.models()),
      attempts: createAttempts({ circuits, now, clock: Date.now, random: Math.random, redact: keys.redact }),
      now,
      observe: health.observe,
    })
    return { router, ollama, embedded, send: outbound.send }
  }
}

/** Where speech finds its models. */
export function speechPlaces(
  settings: Settings,
): Pick<ServiceOptions, 'modelsFolder' | 'cacheFolder' | 'hubEndpoint' | 'hubToken'> {
  const { modelsFolder, hubEndpoint, environment, paths } = settings
  const cacheFolder = join(paths.cache, 'models')
  return { modelsFolder, cacheFolder, hubEndpoint, hubToken: readSecret('HF_TOKEN', environment)?.value }
}

/** A window that today's hosted models all have, and one that local runners give a model when they are not told otherwise. */
const hostedContext = 32_768
const localContext = 4_096

/** The context window of the model that is to answer: what its plugin says of it, else a cautious guess. */
function contextTokens(plugins: PluginHost, model: string | undefined, plugin: string | undefined): number {
  const prefix = model?.split(':', 1)[0] ?? ''
  const manifest = plugins.find(plugin ?? prefix) ?? (plugin === undefined ? plugins.active('chat') : undefined)
  if (!manifest) return localContext
  const name = model?.startsWith(`${manifest.id}:`) ? model.slice(manifest.id.length + 1) : model
  const facts = manifest.models?.[name ?? manifest.default_model ?? manifest.model_map[0]!]
  const told = facts?.['context_window']
  return typeof told === 'number' && told > 0 ? told : hostedContext
}

/**
 * What can be done today by someone for whom nothing answers, once these plugins and runners have failed: only what is
 * not tried yet, and no key that is set already.
 */
function advice(
  settings: Settings,
  plugins: PluginHost,
  failed: ReadonlySet<string>,
  pulled: readonly string[],
): readonly string[] {
  const others = plugins
    .list()
    .filter(({ id, type, active }) => (type === 'chat' || type === 'completion') && !active && !failed.has(id))
  const ready = others.find(({ state }) => state === 'ready')
  const closed = others.find(({ id, state }) => state === 'key_missing' && id === 'openai') ?? others.find(isClosed)
  const provider = ready
    ? [`Activate a plugin whose key is set: aichat plugin activate ${ready.id}`]
    : closed
      ? [`Use a provider: set its key, such as ${closed.auth.key_env}, and run aichat plugin activate ${closed.id}`]
      : []
  const lines = [
    ...provider,
    ...(pulled.length > 0
      ? []
      : [`pull a small model that runs on this machine: aichat models pull ${defaultChatModel}`]),
    ...(failed.has('ollama')
      ? []
      : [`start a local runner: Ollama with a model, expected at ${settings.ollamaHost} (OLLAMA_HOST)`]),
  ]
  return lines.map((line, at) => (at === 0 ? `${line.charAt(0).toUpperCase()}${line.slice(1)}` : `or ${line}`))
}

function isClosed({ state }: { readonly state: string }): boolean {
  return state === 'key_missing'
}

function environmentSecrets(settings: Settings) {
  const known = new Map<string, string | undefined>()
  const get = (name: string) => {
    if (!known.has(name)) known.set(name, readSecret(name, settings.environment)?.value)
    return known.get(name)
  }
  return { has: (name: string) => get(name) !== undefined, get }
}

/** Loads a part at its first use; a failed load is tried again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch((reason) => {
      loading = undefined
      throw reason
    })
    return loading
  }
}
