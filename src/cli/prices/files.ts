import { basename } from 'node:path'
import { longestPriceFile } from '../../operations/prices.ts'
import type { Cli } from '../terminal/cli.ts'
import { isAddress, readObject } from '../terminal/fetched.ts'

/** Reads a price file, an http(s) address of one, or stdin for `-`, with the name under which its prices are kept. */
export async function readPriceFile(
  cli: Cli,
  source: string,
): Promise<{ readonly document: object; readonly origin: string }> {
  return { document: await readObject(cli, source, longestPriceFile, 'price file'), origin: originOf(source) }
}

/** An address without its user, password and query, which may be secrets; the name of a file without its folders. */
function originOf(source: string): string {
  if (source === '-') return 'standard input'
  if (!isAddress(source)) return basename(source).slice(0, 300)
  const { origin, pathname } = new URL(source)
  return `${origin}${pathname}`.slice(0, 300)
}
