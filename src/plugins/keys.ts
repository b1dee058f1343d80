import { withoutApiKeys } from '../accounts/accounts.ts'
import { AppError } from '../errors.ts'
import { baseKeyName, isKeyName, numberedNames, whyKeyMayNotGoTo } from './key-rules.ts'
import type { ManifestRules, PluginManifest } from './manifest.ts'

/** A place that holds secrets by the name of their variable. */
export interface SecretSource {
  /** True when the source holds the name; never opens a keychain. */
  has(name: string): boolean
  get(name: string): string | undefined | Promise<string | undefined>
  /** The place of a secret that it holds, as `aichat secret list` names it. */
  origin(name: string): SecretOrigin
}

/** `file` is the 0600 file of the config folder; `NAME_FILE` is the variable that names another one. */
export type SecretOrigin = 'environment' | 'credential' | 'keychain' | 'file' | `${string}_FILE`

/** The keys of the plugins. They leave this file only for the header of a request to the plugin's own host. */
export type Keys = ReturnType<typeof createKeys>

/** The names of the keys that are set are looked up again after so long: a secret may be stored meanwhile. Milliseconds. */
const poolMs = 1000

/** A keychain is asked in a process of its own: for a refused key so often at the most. Milliseconds. */
const keychainMs = 60_000

/** The most cached results of key checks. */
const mostVerdicts = 500

/** The first source that holds a name wins: environment, credentials, files, keychain, 0600 store. */
export function createKeys(
  sources: readonly SecretSource[],
  rules: () => Pick<ManifestRules, 'keyNames' | 'pinned'>,
  now: () => number = () => performance.now(),
) {
  const handedOut = new Set<string>()
  const versions = new Map<string, { readonly value: string; readonly version: number }>()
  const askedAt = new Map<string, number>()
  const pools = new WeakMap<PluginManifest, { readonly names: readonly string[]; readonly until: number }>()
  const refusals = new Map<string, string | undefined>()
  const headers = new WeakMap<PluginManifest, Ready>()
  let checkedBy: ReturnType<typeof rules> | undefined
  return {
    /** Whether the plugin needs no key, or one of its variables is set somewhere. */
    isSet: (manifest: PluginManifest) => manifest.auth.key_env === '' || firstOf(manifest) !== undefined,
    /**
     * The header with the key for this address, by default the first that is set; an empty object where the plugin
     * needs none. Throws `configuration` when the key is missing or is not allowed to go there.
     */
    headerFor(
      manifest: PluginManifest,
      url: string,
      asked?: string,
    ): Record<string, string> | Promise<Record<string, string>> {
      if (manifest.auth.key_env === '' || manifest.auth.header === '') return {}
      const name = asked ?? firstOf(manifest)
      if (name === undefined) throw missing(manifest)
      // Checked again at use: a plugin's file may have been edited on the disk.
      const reason = refusal(name, url)
      if (reason) throw new AppError('configuration', `The plugin ${manifest.id} may not use its key: ${reason}`)
      const value = sourceOf(name)!.get(name)
      return value instanceof Promise
        ? value.then((found) => header(manifest, name, found))
        : header(manifest, name, value)
    },
    /** The variables of the plugin's keys that are set, one for each key: more than one is a pool. */
    poolOf(manifest: PluginManifest): readonly string[] {
      const known = pools.get(manifest)
      if (known && known.until > now()) return known.names
      const names = [...new Set([namesOf(manifest).find(sourceOf), ...furtherNames(manifest).filter(sourceOf)])]
      const pool = names.filter((name) => name !== undefined)
      pools.set(manifest, { names: pool, until: now() + poolMs })
      return pool
    },
    /** Another value when the key of a variable has another value; never a part of it. */
    versionOf(name: string): unknown {
      const source = sourceOf(name)
      const asked = askedAt.get(name) ?? Number.NEGATIVE_INFINITY
      // The environment and the file are read at once; a keychain behind the answer, and not each time.
      if (source && (isFast(source, name) || asked + keychainMs <= now())) {
        askedAt.set(name, now())
        const value = source.get(name)
        if (value instanceof Promise) value.then((found) => noted(name, found?.trim() ?? '')).catch(() => undefined)
        else noted(name, value?.trim() ?? '')
      }
      return versions.get(name)?.version
    },
    /** The place that a secret is read from; undefined where it is not set. Never opens a keychain. */
    originOf: (name: string) => sourceOf(name)?.origin(name),
    /** Advice for a key that the provider refused: the variable, its place, and how to replace it; never its value. */
    refusedAdvice(manifest: PluginManifest, asked?: string): string {
      const { name: provider, auth } = manifest
      if (auth.key_env === '')
        return `${provider} wants a key, and its plugin names none: set auth.key_env in the plugin`
      const name = asked ?? firstOf(manifest) ?? auth.key_env
      const origin = sourceOf(name)?.origin(name)
      return `The key is ${name}${origin ? ` from ${placeOf(origin)}` : ''}: check at ${provider} that it is valid and may do this, or ${replaceIt(name, origin)}`
    },
    /** A text without any key that this process has handed out, and without API keys: for messages and logs. */
    redact(text: string): string {
      let clean = withoutApiKeys(text)
      for (const value of handedOut) clean = clean.replaceAll(value, '[key]')
      return clean
    },
  }

  /** Why a key may not go to an address. Results are cached as long as the rules, which change with the plugins. */
  function refusal(name: string, url: string): string | undefined {
    const current = rules()
    if (current !== checkedBy || refusals.size >= mostVerdicts) {
      checkedBy = current
      refusals.clear()
    }
    const question = `${name} ${url}`
    if (!refusals.has(question)) {
      const { keyNames, pinned } = current
      const named = isKeyName(name, keyNames)
      refusals.set(question, named ? whyKeyMayNotGoTo(name, url, pinned) : 'auth.key_env holds no name of a key')
    }
    return refusals.get(question)
  }

  function noted(name: string, value: string): void {
    const known = versions.get(name)
    if (known?.value !== value) versions.set(name, { value, version: (known?.version ?? 0) + 1 })
  }

  function firstOf(manifest: PluginManifest): string | undefined {
    return allNamesOf(manifest).find(sourceOf)
  }

  function sourceOf(name: string): SecretSource | undefined {
    return sources.find((source) => source.has(name))
  }

  function header(manifest: PluginManifest, name: string, found: string | undefined): Record<string, string> {
    const known = headers.get(manifest)
    if (known?.name === name && known.found === found) return known.header
    const value = found?.trim()
    if (!value) throw missing(manifest)
    if (!/^[\x21-\x7e]+$/.test(value))
      throw new AppError('configuration', `${name} holds characters that no key has: set it again`)
    if (value.includes(','))
      throw new AppError('configuration', `${name} holds a comma, which no key has`, {
        details: [`Set several keys in variables of their own: ${name}, ${baseKeyName(name)}_2, …`],
      })
    noted(name, value)
    if (value.length >= 6) handedOut.add(value)
    const ready = { [manifest.auth.header.toLowerCase()]: `${manifest.auth.prefix ?? ''}${value}` }
    headers.set(manifest, { name, found, header: ready })
    return ready
  }
}

function isFast(source: SecretSource, name: string): boolean {
  return source.origin(name) !== 'keychain'
}

/** The header that a plugin's last request had; it is written again for another key or another value. */
interface Ready {
  readonly name: string
  readonly found: string | undefined
  readonly header: Record<string, string>
}

/** A cache: a plugin that is read again is another object. */
const allNames = new WeakMap<PluginManifest, readonly string[]>()

/** All variables that may hold a key of the plugin. */
export function allNamesOf(manifest: PluginManifest): readonly string[] {
  let names = allNames.get(manifest)
  if (!names) {
    names = [...namesOf(manifest), ...furtherNames(manifest)]
    allNames.set(manifest, names)
  }
  return names
}

function furtherNames({ auth }: PluginManifest): readonly string[] {
  return auth.key_env === '' ? [] : [...numberedNames(auth.key_env), ...(auth.key_envs ?? [])]
}

/** The variables of a plugin's first key in the order in which they are tried. */
export function namesOf(manifest: PluginManifest): readonly string[] {
  return [manifest.auth.key_env, ...(manifest.auth.key_env_alternatives ?? [])].filter(Boolean)
}

function placeOf(origin: SecretOrigin): string {
  switch (origin) {
    case 'environment':
      return 'the environment'
    case 'credential':
      return 'the credentials of the service'
    case 'keychain':
      return 'the keychain'
    case 'file':
      return 'the file secrets.json'
    default:
      return `the file that ${origin} names`
  }
}

function replaceIt(name: string, origin: SecretOrigin | undefined): string {
  if (origin === 'keychain' || origin === 'file') return `store another: aichat secret set ${name}`
  // A stored key would not be read: the environment comes first.
  return origin === undefined
    ? `set it: aichat secret set ${name}`
    : 'set another there (a running daemon must be restarted)'
}

function missing(manifest: PluginManifest): AppError {
  const name = manifest.auth.key_env
  return new AppError('configuration', `${name} is not set, which ${manifest.name} needs`, {
    details: [`Set it in the environment (a daemon must be restarted), or store it: aichat secret set ${name}`],
  })
}
