import { statSync } from 'node:fs'
import { inOwnProcess } from './own-process.ts'
import { openPlain, type PlainPackage } from './package-file.ts'
import { PackageError } from './package-format.ts'
import type { Outline, PackageSource } from './package-source.ts'
import { refused, type Verdict, verifySource } from './package-verify.ts'
import { unpackedSize } from './zip-file.ts'

/** A smaller package is judged sooner than a process starts: bytes. */
const smallPackage = 4 * 1024 ** 2

/** What the process is asked. */
export type JudgeTask = Pick<PlainPackage, 'path' | 'kind'>

/** A verdict, and what was found on the way that spares whoever opens the package next a pass over it. */
export interface Judgement {
  readonly verdict: Verdict
  readonly outline?: Outline
}

/** A package that was judged, to be opened by whoever takes it in. */
export interface JudgedPackage {
  readonly verdict: Verdict
  open(): Promise<PackageSource>
}

/** Judges a package; a large one in a process of its own, so that nobody else waits for it. */
export async function judgePackage({ path, kind }: JudgeTask, signal?: AbortSignal): Promise<JudgedPackage> {
  const task: JudgeTask = { path, kind }
  const { verdict, outline } =
    bytesOf(task) <= smallPackage
      ? await judgeHere(task)
      : await inOwnProcess<Judgement>({ beside: import.meta.url, name: './package-judge-process' }, task, signal)
  return { verdict, open: () => openPlain(task, outline) }
}

/** How much there is to read; of a zip, what its directory says, which holds. */
function bytesOf({ path, kind }: JudgeTask): number {
  const { size } = statSync(path)
  if (kind !== 'zip' || size > smallPackage) return size
  try {
    return unpackedSize(path)
  } catch (reason) {
    // What its directory shows to be none is refused at once.
    if (reason instanceof PackageError) return size
    throw reason
  }
}

/** Judges a package in this process. */
export async function judgeHere(task: JudgeTask): Promise<Judgement> {
  let source: PackageSource
  try {
    source = await openPlain(task)
  } catch (reason) {
    return { verdict: refused(reason) }
  }
  try {
    const { outline } = source
    return { verdict: verifySource(source), ...(outline && { outline }) }
  } finally {
    source.close()
  }
}
