import { damaged, FileError } from '../../formats/formats.ts'
import { canStartThreads, startThread } from '../../process/process.ts'
import { type Fields, isFields } from '../fields.ts'
import { digestOf } from './digest.ts'
import type { PackageHead, PackageMemory } from './format.ts'
import type { PackageSource } from './source.ts'
import type { VerifyResult } from './verify.ts'
import { digestOfHead, isReadTwice, openPlain, type PlainFile, type ReadPackage, unchanged } from './verify-file.ts'

/** A message of the thread: memories of a package that is sound so far, and at the end whether it is valid. */
export type ReadAhead = { readonly memories: readonly PackageMemory[] } | ReadPackage

/** A package that is verified while it is imported. */
export interface DeclaredPackage {
  /** The outcome of the verification if the package is as it declares. */
  readonly result: VerifyResult
  /** Its first `memories()` throws a `NotAsDeclared` at its end for any other outcome. */
  readonly source: PackageSource
}

/** The package is not as it declares. Nothing of it may be kept. */
export class NotAsDeclared extends Error {
  /** The outcome of the verification, where it came to its end. */
  readonly result: VerifyResult | undefined

  constructor(result?: VerifyResult) {
    super('The package is not as it declares')
    this.result = result
  }
}

/**
 * Opens a large package that declares its contents, as those of aichat do: a thread reads it once, verifies it, and hands its
 * memories over before it knows whether the package is valid. A caller writes them where no reader sees them, and removes
 * them where the source throws. Undefined for any other package, which is verified first.
 */
export async function openDeclared({ path, kind }: PlainFile): Promise<DeclaredPackage | undefined> {
  const file = { path, kind }
  if (!canStartThreads || !isReadTwice(file)) return undefined
  let source: PackageSource
  try {
    source = await openPlain(file)
  } catch (reason) {
    if (reason instanceof FileError) return undefined
    throw reason
  }
  const result = declaredResult(source)
  if (!result) source.close()
  return result && { result, source: { ...source, ...reading(file, source, result) } }
}

function declaredResult({ form, head: { metadata } }: PackageSource): VerifyResult | undefined {
  const { checksum, content_hash, counts, record_digests: digests, version } = metadata
  if (!isFields(counts) || !isFields(digests)) return undefined
  const { memories, adaptation_log: adaptations } = counts
  if (typeof checksum !== 'string' || typeof content_hash !== 'string' || typeof version !== 'string') return undefined
  if (!isCount(memories) || !isCount(adaptations)) return undefined
  return {
    valid: true,
    expected: checksum,
    actual: checksum,
    version,
    problems: [],
    kind: null,
    form,
    content_hash,
    memories,
    adaptations,
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function reading(
  file: PlainFile,
  source: PackageSource,
  result: VerifyResult,
): Pick<PackageSource, 'memories' | 'log' | 'close'> {
  let isVerified = false
  let stop = () => {}
  return {
    memories() {
      return isVerified ? unchanged(source, result.content_hash).memories() : ahead()
    },
    *log() {
      const digests: string[] = []
      for (const record of source.log()) {
        digests.push(digestOf(record))
        yield record
      }
      // The thread holds its own log to the same digests.
      const listed = (source.head.metadata['record_digests'] as Fields)['adaptation_log']
      if (digests.join('') !== listed) throw damaged('The package was changed while it was read')
    },
    close() {
      stop()
      source.close()
    },
  }

  function* ahead(): Generator<PackageMemory> {
    const thread = startThread<ReadAhead>({ beside: import.meta.url, name: './read-ahead-child' }, file)
    stop = thread.stop
    let count = 0
    try {
      for (let item = thread.next(); item; item = thread.next()) {
        if ('memories' in item) {
          count += item.memories.length
          // Rows for which no room was asked are not even staged.
          if (count > result.memories) throw new NotAsDeclared()
          yield* item.memories
        } else {
          refuseOther(item, source.head, result)
          isVerified = true
        }
      }
    } finally {
      thread.stop()
    }
  }
}

/** Whether a package is valid and as it declares. */
export function isAsDeclared(result: VerifyResult, expected: VerifyResult): boolean {
  const compared = ['expected', 'content_hash', 'memories', 'adaptations'] as const
  return result.valid && compared.every((name) => result[name] === expected[name])
}

/** Holds the outcome, and the small parts as the thread read them, to the declaration. */
function refuseOther({ result, head }: ReadPackage, own: PackageHead, expected: VerifyResult): void {
  if (!isAsDeclared(result, expected)) throw new NotAsDeclared(result)
  if (head !== digestOfHead(own)) throw damaged('The package was changed while it was read')
}
