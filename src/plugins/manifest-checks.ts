import type { z } from 'zod'
import { isPrintableLine, stripControls } from '../formats/formats.ts'
import { hostRange } from '../http/http.ts'
import { isOwnVariable } from './key-rules.ts'
import { looksLikeKey, looksLikeKeyHeader, looksLikeKeyQuery } from './key-shapes.ts'

/** Rules for the fields of a plugin document beyond their types. */

/** Words that are in the place of an id in the routes, and names that files must not have. */
const reservedIds = new Set(
  'install upload activate deactivate active current status export all list none plugin plugins __proto__ constructor prototype'.split(
    ' ',
  ),
)

/** Beginnings of a model that name no plugin: `local:MODEL` is one of this machine, `persona:NAME` a persona. */
export const reservedPrefixes: ReadonlySet<string> = new Set(['local', 'persona'])

/** Names of devices, which some file systems take for no file, also with an ending. */
const deviceName = /^(?:con|nul|aux|prn|com\d|lpt\d)(?:\.|$)/

/** Headers that belong to the connection (RFC 9110 §7.6) or to another session. */
const reservedHeaders = new Set(
  'host content-length content-type content-encoding transfer-encoding connection cookie set-cookie te upgrade expect keep-alive trailer'.split(
    ' ',
  ),
)

/** The message for a value that is shaped like a key; the value itself is never shown. */
const secretAdvice = 'looks like a secret; put it into the variable that auth.key_env names'

const idRule = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const headerValue = /^[\x20-\x7e]{0,1000}$/

/** An id that can be a file's name and a word in an address. */
export function checkId(id: string, context: z.RefinementCtx): void {
  if (!idRule.test(id) || id.includes('..')) {
    context.addIssue('must be 1 to 64 lower-case letters, digits and . _ - and begin and end with a letter or digit')
  } else if (reservedPrefixes.has(id)) {
    context.addIssue(`"${id}" is a reserved word: models named ${id}:… are of no plugin`)
  } else if (reservedIds.has(id) || deviceName.test(id)) context.addIssue(`"${id}" is a reserved word`)
}

/** An address that is called: http or https, no secrets in it, no host that is never called. */
export function checkUrl(text: string, context: z.RefinementCtx): void {
  // A placeholder is no URL character; any letter will do for the check.
  const url = URL.canParse(text.replaceAll('{model}', 'm')) ? new URL(text.replaceAll('{model}', 'm')) : undefined
  if (!url || !/^https?:\/\//i.test(text) || /[\s\x00-\x1f\x7f\\]/.test(text))
    return void context.addIssue('must be an http or https address')
  // Letters of other scripts look like these; a host in one is written in its xn-- form.
  if (/[^\x21-\x7e]/.test(text)) context.addIssue('must be written in ASCII')
  if (url.port === '0') context.addIssue('must not name port 0')
  if (url.username || url.password) context.addIssue('must not hold a user name or password')
  if (url.hash) context.addIssue('must not hold a fragment (#…)')
  if (text.replaceAll('{model}', '').match(/[{}]/)) context.addIssue('may hold the placeholder {model} and no other')
  if (/\{model\}/.test(text.split('/', 3).join('/'))) context.addIssue('must not hold {model} in its host')
  if (hostRange(url.hostname) === 'forbidden')
    context.addIssue('points at a link-local, metadata, multicast or reserved address')
  if ([...url.searchParams].some(([name, value]) => looksLikeKeyQuery(name, value)))
    context.addIssue(`has a query value that ${secretAdvice}`)
}

/** The same for fixed query values that are next to an address. */
export function checkQuery(query: Record<string, string>, context: z.RefinementCtx): void {
  for (const [name, value] of Object.entries(query))
    if (looksLikeKeyQuery(name, value)) context.addIssue({ code: 'custom', path: [name], message: secretAdvice })
}

/** The text before a key in its header: printable, and not the key itself. */
export function checkPrefix(prefix: string, context: z.RefinementCtx): void {
  if (!/^[\x20-\x7e]{0,64}$/.test(prefix))
    context.addIssue('must be at most 64 printable characters, without line breaks')
  if (looksLikeKey(prefix)) context.addIssue(secretAdvice)
}

/** The name of a header that may carry a key; "" for none. */
export function checkHeader(name: string, context: z.RefinementCtx): void {
  if (name === '') return
  if (looksLikeKey(name)) context.addIssue(`must be a header's name, and ${secretAdvice}`)
  else if (!headerName.test(name))
    context.addIssue('must be a header name: letters, digits and - without spaces or line breaks')
  else if (reservedHeaders.has(name.toLowerCase()) || /^(?:proxy-|sec-)/i.test(name))
    context.addIssue(`the header ${name} cannot carry a key`)
}

/** Fixed headers: names that are free to be set, values that are no secrets. */
export function checkHeaders(headers: Record<string, string>, context: z.RefinementCtx): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name) || reservedHeaders.has(name.toLowerCase()) || /^(?:proxy-|sec-)/i.test(name))
      context.addIssue({ code: 'custom', path: [name], message: 'is not a header that can be set' })
    if (!headerValue.test(value))
      context.addIssue({ code: 'custom', path: [name], message: 'must be printable characters without line breaks' })
    if (looksLikeKey(name) || looksLikeKeyHeader(name, value))
      context.addIssue({ code: 'custom', path: [name], message: secretAdvice })
  }
}

/** The name of a variable that can hold a key; "" for none. */
export function checkKeyName(name: string, context: z.RefinementCtx): void {
  if (name === '') return
  // Never echo the value: by mistake it may be the key itself.
  if (looksLikeKey(name) || !/^[A-Z][A-Z0-9_]{0,70}$/.test(name)) {
    context.addIssue(
      looksLikeKey(name)
        ? 'looks like a key; it must be the name of a variable'
        : 'must be the name of a variable: capitals, digits and _',
    )
  } else if (isOwnVariable(name)) context.addIssue('names a variable of aichat or of the machine, which is never a key')
}

/** A regular expression that is fast on every text: no repetition inside a repetition or of a branch, few in all. */
export function checkPattern(text: string, context: z.RefinementCtx): void {
  try {
    new RegExp(text, 'i')
  } catch {
    return void context.addIssue('must be a regular expression')
  }
  if (text.length > 300 || mayRunForEver(text)) context.addIssue('is too long or repeats a repetition or a choice')
}

/** One line to be shown: no control characters, and none that turn the direction of the text after them. */
export function checkLine(text: string, context: z.RefinementCtx): void {
  if (!isPrintableLine(text)) context.addIssue('must be one line of printable text')
}

/** The same over several lines. */
export function checkText(text: string, context: z.RefinementCtx): void {
  if (stripControls(text) !== text) context.addIssue('must be printable text')
}

/** An address to be shown and perhaps opened: empty, or http or https. */
export function checkLink(text: string, context: z.RefinementCtx): void {
  const isLink = /^https?:\/\//i.test(text) && URL.canParse(text) && !/[^\x21-\x7e]/.test(text)
  if (text !== '' && !isLink) context.addIssue('must be an http or https address')
}

/** The most open-ended repetitions in one pattern: each may cost the length of the text once more. */
const mostRepetitions = 3

/**
 * Whether backtracking may take exponential time (a repeated group that itself repeats or branches inside, see
 * https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS) or a high power of the length.
 */
function mayRunForEver(pattern: string): boolean {
  const plain = pattern.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x')
  const open: { risky: boolean }[] = [{ risky: false }]
  let repetitions = 0
  for (let at = 0; at < plain.length; at++) {
    const character = plain[at]!
    const inner = open.at(-1)!
    if (character === '(') open.push({ risky: false })
    else if (character === '|') inner.risky = true
    else if (character === ')' && open.length > 1) {
      open.pop()
      if (inner.risky && isRepeated(plain, at + 1)) return true
      open.at(-1)!.risky ||= inner.risky
    } else if (isRepeated(plain, at) || (character === '?' && plain[at - 1] !== '(')) {
      // A fixed count leaves nothing to try again.
      if (!/^\{\d+\}/.test(plain.slice(at, at + 9))) inner.risky = true
      if (/^(?:[*+]|\{\d+,\})/.test(plain.slice(at, at + 9))) repetitions++
    }
  }
  return repetitions > mostRepetitions
}

/** Whether `*`, `+` or a count such as `{9}` stands here. */
function isRepeated(plain: string, at: number): boolean {
  return /^(?:[*+]|\{\d+(?:,\d*)?\})/.test(plain.slice(at, at + 20))
}
