import { hostRange } from './host-range.ts'

/** Why this key must not travel to this address, or undefined when it may. */
export function whyKeyMayNotGoTo(
  name: string,
  endpoint: string,
  pinned: ReadonlyMap<string, string>,
): string | undefined {
  const url = new URL(endpoint)
  const range = hostRange(url.hostname)
  const home = pinned.get(name)
  if (home && url.host !== home && range !== 'loopback')
    return `${name} is only sent to ${home}; name another variable for another host`
  if (url.protocol === 'http:' && range === 'public') return `${name} would travel unencrypted; use an https address`
  return undefined
}

/** True for a variable that a plugin may name as its key. */
export function isKeyName(name: string, extra: readonly string[]): boolean {
  if (isOwnVariable(name)) return false
  return /^[A-Z][A-Z0-9_]{0,60}_API_KEY$/.test(name) || name === 'GITHUB_TOKEN' || extra.includes(name)
}

/** Variables that aichat or the machine reads itself: a plugin that named one could carry it away. */
export function isOwnVariable(name: string): boolean {
  return (
    /^(?:AICHAT_|JWT_|DEFAULT_ADMIN_|LD_|NODE_|npm_|XDG_|SSH_|AWS_)/i.test(name) ||
    /^(?:PATH|HOME|USER|SHELL|PWD|HF_TOKEN|HF_ENDPOINT|DATABASE_URL|CREDENTIALS_DIRECTORY|CORS_ORIGIN|TRUST_PROXY|PUBLIC_HOSTS|PLUGIN_KEY_ENVS|PLUGIN_ALLOW_PRIVATE|OLLAMA_HOST|SINGLE_USER_MODE|ALLOW_REGISTRATION)(?:_FILE)?$/.test(
      name,
    )
  )
}

/** Shaped as the keys of the known providers are: a known beginning or a long run of random-looking characters. */
export function looksLikeKey(value: string): boolean {
  return (
    /\b(?:sk-|sk_|gsk_|ghp_|github_pat_|AIza|xox[abp]-|hf_|Bearer\s+\S{16})/.test(value) ||
    /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9_-]{32,}$/.test(value)
  )
}
