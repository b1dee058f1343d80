/** How the providers' keys begin, with at least eight characters behind that. */
const beginnings = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    'sk-|sk_|rk_|gsk_|csk-|pplx-|xai-|nvapi-|hf_|r8_|fw_|tgp_v\\d_|jina_|lsv2_|dapi|glpat-|github_pat_|gh[opsur]_',
    // Keys of aichat itself.
    'aic_',
    'AIza|ya29\\.|AKIA|ASIA|xox[abeprs]-|AQ\\.[A-Za-z]',
  ].join('|')})[A-Za-z0-9_.-]{8}`,
)

/**
 * The keys that tell their provider, by the variable that usually holds them. `sk-` alone tells none: OpenAI's older keys share
 * it with others', and a key must not be sent to another provider than its own.
 */
const providersOfKeys: readonly (readonly [beginning: RegExp, variable: string])[] = [
  [/^sk-ant-/, 'ANTHROPIC_API_KEY'],
  [/^sk-or-/, 'OPENROUTER_API_KEY'],
  [/^sk-(?:proj|svcacct|admin)-|^sk-\w+T3BlbkFJ/, 'OPENAI_API_KEY'],
  [/^gsk_/, 'GROQ_API_KEY'],
  [/^AIza/, 'GEMINI_API_KEY'],
  [/^(?:gh[opsu]_|github_pat_)/, 'GITHUB_API_KEY'],
  [/^xai-/, 'XAI_API_KEY'],
  [/^csk-/, 'CEREBRAS_API_KEY'],
  [/^pplx-/, 'PERPLEXITY_API_KEY'],
]

/** The variable of the provider that a key is of, by its beginning; undefined where it tells none. */
export function variableOfKey(key: string): string | undefined {
  return providersOfKeys.find(([beginning]) => beginning.test(key))?.[1]
}

/** Headers in which services take a key. */
const keyHeaders = /^(?:authorization|(?:x-|xi-|x-goog-)?api-?key|x-auth-token|x-access-token)$/i

/** Names of query values in which services take a key. */
const keyQueries = /^(?:key|api[-_]?key|access[-_]?(?:key|token)|auth|token|secret|password|sig|signature)$/i

/** Ids that are no secrets, though they look random: UUIDs, and OpenAI's organisations and projects. */
const publicIds =
  /(?<![A-Za-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:org-|proj_)[A-Za-z0-9]+)(?![A-Za-z0-9])/gi

/** The shortest run of characters that is tested for randomness: no version, date or word is so long. */
const shortestRandom = 24

/** Shaped as a provider's key: a known beginning, a scheme before a token, a JSON Web Token, or a long random run. */
export function looksLikeKey(value: string): boolean {
  if (beginnings.test(value) || /\b(?:Bearer|Basic|Token)\s+\S{16}/i.test(value)) return true
  if (/(?<![\w-])(?:(?!\beyJ)[\w-])*eyJ[\w-]{8,}\.[A-Za-z0-9_-]{8,}/.test(value)) return true
  const rest = value.replace(publicIds, ' ')
  if (/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9_+/-]{32,}={0,2}$/.test(rest)) return true
  return rest.split(/[^A-Za-z0-9]+/).some(isRandom)
}

/** Whether a fixed header holds a key, by its name as well. */
export function looksLikeKeyHeader(name: string, value: string): boolean {
  const bare = value.replace(/^(?:Bearer|Basic|Token)\s+/i, '').replace(publicIds, '')
  return looksLikeKey(value) || (keyHeaders.test(name) && bare.length >= 16)
}

/** Whether a query parameter holds a key, by its name as well; a placeholder is no key. */
export function looksLikeKeyQuery(name: string, value: string): boolean {
  return looksLikeKey(value) || (keyQueries.test(name) && value.length >= 8 && !value.includes('{'))
}

/** Letters and digits that change places often: words and numbers do not. */
function isRandom(run: string): boolean {
  if (run.length < shortestRandom) return false
  const changes = run.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
  return changes >= 4
}
