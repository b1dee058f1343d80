import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testData } from '../../helpers/data.ts'

export interface RelevanceMemory {
  readonly id: string
  readonly content: string
  readonly language: string
  readonly kind: string
  readonly timestamp: number
}

export interface RelevanceQuery {
  readonly id: string
  readonly query: string
  readonly language: string
  readonly answerable: boolean
  readonly right: readonly string[]
  readonly no_shared_word?: boolean
  readonly cross_lingual?: boolean
}

export interface Change {
  readonly id: string
  readonly query: string
  readonly language: string
  readonly older: { readonly content: string; readonly timestamp: number }
  readonly newer: { readonly content: string; readonly timestamp: number }
}

/** One person's memories, questions about them, and changes. */
export interface QualitySet {
  readonly name: string
  readonly memories: readonly RelevanceMemory[]
  readonly queries: readonly RelevanceQuery[]
  readonly pairs: readonly Change[]
  readonly controls: readonly Change[]
}

/**
 * The sets of this folder, written by hand for the calibration, and each folder of the test data with a
 * `relevance.json`. A record without a language is in English.
 */
export function readQualitySets(): QualitySet[] {
  const own = fileURLToPath(new URL('test/bench/memory-parts/sets/', import.meta.resolve('#package')))
  const shared = testData('memory')
  return [...foldersIn(own), ...(shared ? [shared, ...foldersIn(shared)] : [])]
    .filter((folder) => existsSync(join(folder, 'relevance.json')))
    .map((folder) =>
      readSet(folder, folder.startsWith(own) ? folder.slice(own.length) : `test data: ${folder.split('/').at(-1)}`),
    )
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()
}

function readSet(folder: string, name: string): QualitySet {
  const written = read(folder, 'relevance.json') as Pick<QualitySet, 'memories' | 'queries'>
  const memories = written.memories.map((memory) => ({ ...memory, language: memory.language ?? 'en' }))
  const queries = written.queries.map(({ right = [], ...query }) => ({
    ...query,
    language: query.language ?? 'en',
    answerable: right.length > 0,
    right,
  }))
  const changes = existsSync(join(folder, 'changes.json')) ? read(folder, 'changes.json') : {}
  return { name, memories, queries, pairs: [], controls: [], ...(changes as object) }
}

function read(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}
