import { lstat, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from '../../../errors.ts'
import { explain } from '../../terminal/files.ts'
import type { LeftOut } from './attachment.ts'
import { shownName } from './delimited.ts'

export type Place =
  | { readonly kind: 'stdin' }
  | { readonly kind: 'address'; readonly url: URL }
  /** `named` is a file that the user wrote himself; `matched` one of a pattern; `listed` one of a folder. */
  | { readonly kind: 'named' | 'matched' | 'listed'; readonly path: string }

/** The places that a value of -f stands for, in their order, and the files left out. */
export interface Places {
  readonly places: readonly Place[]
  readonly leftOut: readonly LeftOut[]
}

/**
 * Finds the places of a value of -f: `-`, an address, a file, a folder, or a pattern. A file of that very name comes before a
 * pattern. Throws `no_input` where nothing is found, `usage` for an address that cannot be used.
 */
export async function placesOf(value: string, signal: AbortSignal): Promise<Places> {
  if (value === '-') return { places: [{ kind: 'stdin' }], leftOut: [] }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return { places: [{ kind: 'address', url: urlOf(value) }], leftOut: [] }
  try {
    if (!(await stat(value)).isDirectory()) return { places: [{ kind: 'named', path: value }], leftOut: [] }
  } catch (reason) {
    const missing = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(String((reason as NodeJS.ErrnoException).code))
    const found = missing && !(await isDeadLink(value)) ? await matches(value, signal) : undefined
    if (found) return found
    throw new AppError('no_input', `Cannot read ${shownName(value)}: ${explain(reason)}`, { cause: reason })
  }
  return filesOf(value, signal)
}

async function filesOf(folder: string, signal: AbortSignal): Promise<Places> {
  const { walk } = await import('./walk.ts')
  const { paths, leftOut } = await walk(resolve(folder), { shown: folder, hidden: false, signal })
  return { places: paths.map((path) => ({ kind: 'listed', path: join(folder, path) })), leftOut }
}

/** The files that a pattern matches; undefined for a text without a wildcard. */
async function matches(pattern: string, signal: AbortSignal): Promise<Places | undefined> {
  const { default: picomatch } = await import('picomatch')
  const { base, isGlob, glob } = picomatch.scan(pattern, { nonegate: true })
  if (!isGlob || pattern.length > 1000) return undefined
  const nothing = () => new AppError('no_input', `No file matches ${shownName(pattern)}`)
  const folder = base === '' ? '.' : base
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw nothing()
  // A hidden file is taken where the pattern writes the dot, as in a shell.
  const fits = picomatch(glob, { nonegate: true })
  const { walk } = await import('./walk.ts')
  const { paths, leftOut } = await walk(resolve(folder), { shown: folder, hidden: /(?:^|[/{,(])\./.test(glob), signal })
  const found = paths.filter((path) => fits(path))
  if (found.length > 0)
    return { places: found.map((path) => ({ kind: 'matched', path: join(base, path) })), leftOut: [] }
  throw new AppError('no_input', nothing().message, {
    details: leftOut
      .filter(({ name }) => name === folder)
      .map(({ reason }) => `Left out of ${shownName(folder)}: ${reason}`),
  })
}

function urlOf(value: string): URL {
  if (!/^https?:/i.test(value) || !URL.canParse(value))
    throw new AppError('usage', `${shownName(value)} is no address of a page: only http:// and https:// are read`)
  const url = new URL(value)
  if (url.username !== '' || url.password !== '')
    throw new AppError('usage', `The address at ${url.host} holds a user name or password, which is not sent`)
  url.hash = ''
  return url
}

async function isDeadLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}
