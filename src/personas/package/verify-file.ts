import { inOwnProcess } from '../../process/run-in-child.ts'
import { openPlain, type PlainPackage } from './open-file.ts'
import type { Outline, PackageSource } from './source.ts'
import { refused, type Verdict, verifySource } from './verify.ts'
import { isSmallPackage } from './write-task.ts'

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
  const judgement = isSmallPackage(task)
    ? await judgeHere(task)
    : await inOwnProcess<Judgement>({ beside: import.meta.url, name: './verify-child' }, task, signal)
  return judged(task, judgement)
}

/** The same in this process, however large it is: for one that nobody else waits for. */
export async function judgeAtOnce({ path, kind }: JudgeTask): Promise<JudgedPackage> {
  return judged({ path, kind }, await judgeHere({ path, kind }))
}

function judged(task: JudgeTask, { verdict, outline }: Judgement): JudgedPackage {
  return { verdict, open: () => openPlain(task, outline) }
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
