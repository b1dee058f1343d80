import { basename } from 'node:path'
import { AppError } from '../../errors.ts'
import { longestPriceFile } from '../../operations/prices.ts'
import type { Cli } from '../terminal/cli.ts'
import { fetchJson, isAddress } from '../terminal/fetched.ts'
import { readJsonInput } from '../terminal/files.ts'

/** Reads a price file, an http(s) address of one, or stdin for `-`, with the name under which its prices are kept. */
export async function readPriceFile(
  cli: Cli,
  source: string,
): Promise<{ readonly document: object; readonly origin: string }> {
  const document = isAddress(source)
    ? await fetchJson(source, longestPriceFile, cli.signal())
    : await readJsonInput(cli, source, longestPriceFile)
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new AppError('invalid', 'Invalid price file: must be a JSON object')
  return { document, origin: originOf(source) }
}

/** An address without its user, password and query, which may be secrets; the name of a file without its folders. */
function originOf(source: string): string {
  if (source === '-') return 'standard input'
  if (!isAddress(source)) return basename(source).slice(0, 300)
  const { origin, pathname } = new URL(source)
  return `${origin}${pathname}`.slice(0, 300)
}
