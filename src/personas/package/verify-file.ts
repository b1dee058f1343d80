import { runInChild } from '../../process/run-in-child.ts'
import { openPlain, type PlainPackage } from './open-file.ts'
import type { Outline, PackageSource } from './source.ts'
import { refused, type VerifyResult, verifySource } from './verify.ts'
import { isSmallPackage } from './write-task.ts'

/** What the process is asked. */
export type VerifyTask = Pick<PlainPackage, 'path' | 'kind'>

/** A verdict, and what was found on the way that spares whoever opens the package next a pass over it. */
export interface VerifiedSource {
  readonly verdict: VerifyResult
  readonly outline?: Outline
}

/** A package that was judged, to be opened by whoever takes it in. */
export interface VerifiedPackage {
  readonly verdict: VerifyResult
  open(): Promise<PackageSource>
}

/** Judges a package; a large one in a process of its own, so that nobody else waits for it. */
export async function verifyPackage({ path, kind }: VerifyTask, signal?: AbortSignal): Promise<VerifiedPackage> {
  const task: VerifyTask = { path, kind }
  const judgement = isSmallPackage(task)
    ? await verifyTask(task)
    : await runInChild<VerifiedSource>({ beside: import.meta.url, name: './verify-child' }, task, signal)
  return verifiedPackage(task, judgement)
}

/** The same in this process, however large it is: for one that nobody else waits for. */
export async function verifyInThisProcess({ path, kind }: VerifyTask): Promise<VerifiedPackage> {
  return verifiedPackage({ path, kind }, await verifyTask({ path, kind }))
}

function verifiedPackage(task: VerifyTask, { verdict, outline }: VerifiedSource): VerifiedPackage {
  return { verdict, open: () => openPlain(task, outline) }
}

/** Judges a package in this process. */
export async function verifyTask(task: VerifyTask): Promise<VerifiedSource> {
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
