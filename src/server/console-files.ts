import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { packageFolder } from '../app/package-folder.ts'
import { AppError } from '../errors.ts'

/** A file of the console in memory: all of them are 300 kB. */
export interface ConsoleFile {
  readonly type: string
  /** The page itself, which names all others and is never cached unasked. */
  readonly isPage: boolean
  readonly digest: string
  readonly body: Buffer
  /** The file compressed at the build, the smallest first. */
  readonly bodies: readonly (readonly [encoding: string, body: Buffer])[]
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The encodings of the build, by the ending of their files; the smallest first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** The files of the console by name. Throws `unavailable` where it was not built. */
export function readConsole(): ReadonlyMap<string, ConsoleFile> {
  const folder = join(packageFolder('dist'), 'bundle', 'console')
  try {
    const names = readdirSync(folder)
    const plain = names.filter((name) => types[extname(name)] !== undefined)
    return new Map(plain.map((name) => [name, readConsoleFile(folder, name, names)]))
  } catch (cause) {
    throw new AppError('unavailable', 'The console is not built', { details: ['Build it: npm run build'], cause })
  }
}

function readConsoleFile(folder: string, name: string, names: readonly string[]): ConsoleFile {
  const body = readFileSync(join(folder, name))
  return {
    type: types[extname(name)]!,
    isPage: extname(name) === '.html',
    digest: createHash('sha256').update(body).digest('base64url').slice(0, 22),
    body,
    bodies: encodings.flatMap(([encoding, ending]) =>
      names.includes(name + ending) ? [[encoding, readFileSync(join(folder, name + ending))] as const] : [],
    ),
  }
}
