import { statSync } from 'node:fs'
import { inOwnProcess } from './own-process.ts'
import type { OpenedPackage } from './package-file.ts'
import { type Verdict, verifySource } from './package-verify.ts'

/** A smaller package is judged sooner than a process starts: bytes. */
const smallPackage = 4 * 1024 ** 2

/** Judges an open package; a large one in a process of its own, so that nobody else waits for it. */
export async function judgePackage({ source, path }: OpenedPackage): Promise<Verdict> {
  return statSync(path).size <= smallPackage
    ? verifySource(source)
    : inOwnProcess<Verdict>('package-judge-process', path)
}
