import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { packageFolder } from '../app/app.ts'
import { AppError } from '../errors.ts'
import type { RequestContext } from './request-context.ts'
import type { Route } from './routes.ts'

/** The address of the web console. */
export const consolePath = '/console'

/**
 * The policy of the page (https://www.w3.org/TR/CSP3/): scripts, styles and connections of this server alone, no markup
 * turned into scripts, no frame around it. `blob:` is for data of the page itself: pictures of a chat, and speech.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

/** The routes of the console: its page, and the files that it is made of, which are public and hold nothing of a user. */
export function consoleRoutes(): readonly Route[] {
  let files: ReadonlyMap<string, ConsoleFile> | undefined
  const send = (context: RequestContext, name: string) => {
    files ??= readConsole()
    sendFile(context, files.get(name))
  }
  return [
    { method: 'GET', path: consolePath, handle: (context) => send(context, 'index.html') },
    { method: 'GET', path: `${consolePath}/`, handle: (context) => redirect(context, consolePath) },
    {
      method: 'GET',
      path: `${consolePath}/assets/:name`,
      handle: (context) => {
        const name = context.params['name'] ?? ''
        send(context, name === 'index.html' ? '' : name)
      },
    },
  ]
}

/** Whether the client is a browser that opens a page: programs ask for JSON, or for anything. */
export function wantsPage({ request, response }: RequestContext): boolean {
  response.setHeader('vary', 'Accept')
  return /\btext\/html\b/.test(request.headers.accept ?? '')
}

/** Sends a client to another address of this server. */
export function redirect({ response }: RequestContext, location: string): void {
  response.statusCode = 303
  response.setHeader('location', location)
  response.setHeader('content-length', 0)
  response.end()
}

/** A year of seconds: the name of an asset changes with its content. */
const forGood = 'public, max-age=31536000, immutable'

function sendFile({ request, response }: RequestContext, file: ConsoleFile | undefined): void {
  if (!file) throw new AppError('not_found', 'Not found')
  const encoding = file.bodies.find(([name]) => accepts(request.headers['accept-encoding'], name))
  const [name, body] = encoding ?? ['identity', file.body]
  response.setHeader('etag', `"${file.digest}-${name}"`)
  response.setHeader('vary', 'Accept-Encoding')
  response.setHeader('cache-control', file.isPage ? 'no-cache' : forGood)
  if (file.isPage)
    for (const header in pageHeaders) response.setHeader(header, pageHeaders[header as keyof typeof pageHeaders])
  if (isKnown(request.headers['if-none-match'], `"${file.digest}-${name}"`)) {
    response.statusCode = 304
    return void response.end()
  }
  response.statusCode = 200
  response.setHeader('content-type', file.type)
  response.setHeader('content-length', body.length)
  if (encoding) response.setHeader('content-encoding', name)
  response.end(body)
}

/** Whether an Accept-Encoding header names an encoding, and not with weight 0. */
function accepts(header: string | string[] | undefined, encoding: string): boolean {
  const entries = String(header ?? '').split(',')
  return entries.some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** Whether an If-None-Match header names the tag; a proxy may have made it a weak one. */
function isKnown(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((entry) => entry.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}

/** A file of the console in memory: all of them are 600 kB. */
type ConsoleFile = ReturnType<typeof readConsoleFile>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The encodings of the build, by the ending of their files; the smallest first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** The files of the console by name. Throws `unavailable` where it was not built. */
function readConsole(): ReadonlyMap<string, ConsoleFile> {
  const folder = join(packageFolder('dist'), 'bundle', 'console')
  try {
    const names = readdirSync(folder)
    const plain = names.filter((name) => types[extname(name)] !== undefined)
    return new Map(plain.map((name) => [name, readConsoleFile(folder, name, names)]))
  } catch (cause) {
    throw new AppError('unavailable', 'The console is not built', { details: ['Build it: npm run build'], cause })
  }
}

function readConsoleFile(folder: string, name: string, names: readonly string[]) {
  const body = readFileSync(join(folder, name))
  return {
    type: types[extname(name)]!,
    /** The page itself, which names all others and is never cached unasked. */
    isPage: extname(name) === '.html',
    digest: createHash('sha256').update(body).digest('base64url').slice(0, 22),
    body,
    /** The file compressed at the build, the smallest first. */
    bodies: encodings.flatMap(([encoding, ending]) =>
      names.includes(name + ending) ? [[encoding, readFileSync(join(folder, name + ending))] as const] : [],
    ),
  }
}
