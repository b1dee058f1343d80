import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import type { SpeechRouter } from '../../speech/router.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { createCircuits } from '../chat/circuit.ts'
import { createHealth, type Health } from '../chat/health.ts'
import { createKeychain } from '../keychain/keychain.ts'
import { keychainIndex, openKeychainSecrets } from '../keychain/keychain-secrets.ts'
import { createPluginHost, type PluginHost } from '../plugins/host.ts'
import { createKeys, type Keys, type SecretSource } from '../plugins/keys.ts'
import { readSecret, type Settings } from '../settings/settings.ts'
import { openSecretFile, type SecretFile } from '../storage/files/secrets.ts'
import { openPlugins, openStorage, type Storage, type StorageSettings } from '../storage/storage.ts'
import type { Chat } from './chat.ts'
import type { Models } from './models.ts'
import { once } from './once.ts'
import type { PackageArea } from './packages.ts'
import type { PersonaArea } from './personas.ts'
import type { Waits } from './waits.ts'

/** The product: one value that every face receives. */
export interface App {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly keys: Keys
  readonly secrets: SecretFile
  readonly health: Health
  /** Ports of this machine where this process serves the API: a plugin that points there would be a loop. */
  readonly ownPorts: Set<number>
  chat(): Promise<Chat>
  /** The providers' model lists and the models on this machine. */
  models(): Promise<Models>
  /** Users and logins. The storage is opened at the first call, and refused with `configuration` when it is damaged. */
  accounts(): Promise<Accounts>
  /** Personas, their memories, and saved conversations. */
  personas(): Promise<PersonaArea>
  /** Adaptation of personas; their packages and backups. */
  packages(): Promise<PackageArea>
  speech(): Promise<SpeechRouter>
  /**
   * Reads the whole storage; resolves with one line about it. Creates none where none is there yet; throws
   * `configuration` when it is damaged.
   */
  checkStorage(): Promise<string>
  /** Ends the removal of deleted rows soon, for a service that stops; the next start finishes it. */
  deferCleanup(): void
  close(): Promise<void>
}

/** Folders that ship with the package, the same from the sources and from the build. */
export function packageFolder(name: string): string {
  return fileURLToPath(new URL(`./${name}/`, import.meta.resolve('#package')))
}

export interface AppOptions {
  /** A daemon: it reads the whole storage once at its start. */
  readonly service?: boolean
  readonly waits?: Waits
}

/** The composition root: opens each area at its first use, and closes them in reverse order. */
export function openApp(settings: Settings, options: AppOptions = {}): App {
  const { paths } = settings
  const { waits = {} } = options
  const closers: (() => Promise<void> | void)[] = []
  const closing = <T extends { close(): Promise<void> | void }>(area: T): T => {
    closers.push(() => area.close())
    return area
  }
  const secrets = openSecretFile(join(paths.config, 'secrets.json'))
  // A daemon opens no keychain: there is no user to unlock it.
  const keychain = options.service ? [] : [openKeychainSecrets(keychainIndex(paths), createKeychain())]
  const keys = createKeys([environmentSecrets(settings), ...keychain, secrets], () => plugins.keyRules())
  const storageSettings = storageSettingsOf(settings)
  const store = openPlugins(storageSettings)
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
  let opened: Storage | undefined
  const storage = once(async () => {
    opened = closing(await openStorage(storageSettings, { check: options.service === true }))
    return opened
  })
  const models = once(async () => {
    const { openModels } = await import('./models.ts')
    return closing(openModels({ settings, plugins, store, keys, ownPorts, now }))
  })
  const personas: App['personas'] = once(async () => {
    const [stores, { openPersonas }, { minilm }] = await Promise.all([storage(), import('./personas.ts'), models()])
    const vectorFile = join(packageFolder('dist'), 'data', 'word-vectors.bin')
    const isService = options.service === true
    const { redact } = keys
    return closing(
      await openPersonas({
        storage: stores,
        settings,
        plugins,
        packages,
        vectorFile,
        minilm,
        redact,
        isService,
        waits,
      }),
    )
  })
  const packages: App['packages'] = once(async () => {
    const [stores, { openPackages }, area] = await Promise.all([storage(), import('./packages.ts'), personas()])
    return openPackages({ storage: stores, storageSettings, settings, personas: area.personas })
  })

  return {
    settings,
    plugins,
    keys,
    secrets,
    health,
    ownPorts,
    models,
    personas,
    packages,
    chat: once(async () => {
      const [{ openChat }, { embedded }] = await Promise.all([import('./chat.ts'), models()])
      return closing(openChat({ settings, plugins, keys, health, circuits, ownPorts, embedded, waits }))
    }),
    accounts: once(async () => {
      const [{ accounts }, { openAccounts }] = await Promise.all([storage(), import('./accounts.ts')])
      return openAccounts(settings, accounts)
    }),
    speech: once(async () => {
      const { openSpeech } = await import('./speech.ts')
      return closing(openSpeech({ settings, plugins, keys })).router
    }),
    async checkStorage() {
      const examined = await openStorage(storageSettings, { create: false })
      try {
        return await examined.check()
      } finally {
        await examined.close()
      }
    },
    deferCleanup: () => opened?.deferCleanup(),
    async close() {
      for (const close of closers.reverse()) await close()
    },
  }
}

/** The data folder's storage, held to the limits of the settings. */
function storageSettingsOf({ paths, limits }: Settings): StorageSettings {
  return {
    folder: paths.data,
    bundledPlugins: packageFolder('plugins'),
    limits: { bytes: limits.storedBytesPerUser, memories: limits.storedMemoriesPerUser },
  }
}

function environmentSecrets(settings: Settings): SecretSource {
  const known = new Map<string, ReturnType<typeof readSecret>>()
  const read = (name: string) => {
    if (!known.has(name)) known.set(name, readSecret(name, settings.environment))
    return known.get(name)
  }
  return {
    has: (name) => read(name) !== undefined,
    get: (name) => read(name)?.value,
    origin(name) {
      const origin = read(name)?.origin
      return origin === 'file' ? `${name}_FILE` : origin === 'credential' ? origin : 'environment'
    },
  }
}
