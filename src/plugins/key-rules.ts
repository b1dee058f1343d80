import { hostRange } from '../http/http.ts'
import { looksLikeKey } from './key-shapes.ts'

/** The hosts that a key may go to by its variable's name, as `URL.host` writes them: the first is its provider's. */
export type KeyHosts = ReadonlyMap<string, readonly string[]>

/** Why this key must not travel to this address, or undefined when it may. A key that `pinned` does not name may go anywhere. */
export function whyKeyMayNotGoTo(name: string, endpoint: string, pinned: KeyHosts): string | undefined {
  const url = new URL(endpoint)
  const hosts = pinned.get(baseKeyName(name))
  if (hosts && !hosts.includes(url.host) && !hosts.includes(`${url.hostname}:${portOf(url)}`))
    return `${name} is only sent to ${hosts.join(' or ')}; if ${url.host} may have it too, add ${name}=${url.host} to PLUGIN_KEY_HOSTS (plugins.key_hosts; a daemon reads it at its start), else name another variable`
  if (url.protocol === 'http:' && hostRange(url.hostname) === 'public')
    return `${name} would travel unencrypted; use an https address`
  return undefined
}

/**
 * PLUGIN_KEY_HOSTS: entries `NAME=host` or `NAME=host:port`, each an address that the operator allows a key to go to.
 * Gives the numbers (from 1) of the entries that are none, and never their text, since a key may stand there by mistake.
 */
export function parseKeyHosts(entries: readonly string[]): {
  readonly hosts: KeyHosts
  readonly wrong: readonly number[]
} {
  const hosts = new Map<string, string[]>()
  const wrong: number[] = []
  for (const [index, entry] of entries.entries()) {
    const [, name, place = ''] = /^([A-Z][A-Z0-9_]*)\s*=\s*(?:https?:\/\/)?([^\s/?#@\\]+)\/?$/.exec(entry) ?? []
    const host = looksLikeKey(place) ? undefined : hostOf(place)
    if (name === undefined || host === undefined) wrong.push(index + 1)
    else hosts.set(name, [...(hosts.get(name) ?? []), host])
  }
  return { hosts, wrong }
}

/** `host` or `host:port` with the host as a URL writes it; undefined for anything else. */
function hostOf(place: string): string | undefined {
  if (!URL.canParse(`https://${place}`)) return undefined
  const port = /:(\d+)$/.exec(place)?.[1]
  const { hostname } = new URL(`https://${place}`)
  return port === undefined ? hostname : `${hostname}:${Number(port)}`
}

function portOf({ protocol, port }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

/** The numbers of a provider's further keys: `OPENAI_API_KEY_2` to `OPENAI_API_KEY_9`. */
const numbers = [2, 3, 4, 5, 6, 7, 8, 9]

/** The names of further keys for the same provider, which are bound by the rules of the first. */
export function numberedNames(name: string): readonly string[] {
  return numbers.map((number) => `${name}_${number}`)
}

/** `OPENAI_API_KEY` for `OPENAI_API_KEY_2`; any other name stays as it is. */
export function baseKeyName(name: string): string {
  return name.replace(/_[2-9]$/, '')
}

/** True for a variable that a plugin may name as its key. */
export function isKeyName(name: string, extra: readonly string[]): boolean {
  if (isOwnVariable(name)) return false
  const base = baseKeyName(name)
  return (
    /^[A-Z][A-Z0-9_]{0,60}_API_KEY$/.test(base) ||
    base === 'GITHUB_TOKEN' ||
    extra.includes(name) ||
    extra.includes(base)
  )
}

/** Variables that aichat or the machine reads itself: a plugin that named one could carry it away. */
export function isOwnVariable(name: string): boolean {
  return (
    /^(?:AICHAT_|JWT_|DEFAULT_ADMIN_|LD_|NODE_|npm_|XDG_|SSH_|AWS_)/i.test(name) ||
    /^(?:PATH|HOME|USER|SHELL|PWD|HF_TOKEN|HF_ENDPOINT|DATABASE_URL|CREDENTIALS_DIRECTORY|CORS_ORIGIN|TRUST_PROXY|PUBLIC_HOSTS|PLUGIN_KEY_ENVS|PLUGIN_KEY_HOSTS|PLUGIN_LIMIT|PLUGIN_ALLOW_PRIVATE|OLLAMA_HOST|SINGLE_USER_MODE|ALLOW_REGISTRATION)(?:_FILE)?$/.test(
      name,
    )
  )
}
