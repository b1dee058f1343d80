import { readFileSync, readlinkSync } from 'node:fs'
import { holder, isHeld } from '../../process/process.ts'

/**
 * The mark of this process on rows that live no longer than it: the boot of the machine, the namespace of its process ids,
 * and its own id and start. Such as `4c5f…/4026531836/pid4711-123456`.
 */
export function processMark(): string {
  own ??= `${bootId()}/${namespace()}/${holder()}`
  return own
}

let own: string | undefined

/** Whether a mark's process may still run: one of another namespace may, unless the machine was started again. */
export function mayRun(mark: string): boolean {
  const [itsBoot, itsNamespace, name = ''] = mark.split('/')
  if (itsBoot !== bootId()) return false
  return itsNamespace === namespace() ? isHeld(name) : true
}

/** Whether the process of a mark is seen to have ended: it ran where this one runs, on another machine none is seen. */
export function hasEnded(mark: string): boolean {
  const [itsBoot, itsNamespace, name = ''] = mark.split('/')
  return itsBoot !== '' && itsBoot === bootId() && itsNamespace === namespace() && !isHeld(name)
}

/** The id of this boot; empty where the system has none. */
export function bootId(): string {
  boot ??= readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  return boot
}

let boot: string | undefined

function namespace(): string {
  namespaceId ??= readOr('', () => readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''))
  return namespaceId
}

let namespaceId: string | undefined

function readOr(fallback: string, read: () => string): string {
  try {
    return read()
  } catch {
    return fallback
  }
}
