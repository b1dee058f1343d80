import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'

/** The most that one user may store over all personas. */
export interface StoredLimits {
  readonly memories: number
  readonly bytes: number
}

/** Throws `too_large` when this is more than a user may store. */
export function refuseOver(limits: StoredLimits, { memories, bytes }: StoredLimits): void {
  const full = [
    ...(memories > limits.memories
      ? [`${counted(memories, 'memory', 'memories')}; limits.stored_memories_per_user is ${limits.memories}`]
      : []),
    ...(bytes > limits.bytes ? [`${bytes} bytes; limits.stored_bytes_per_user is ${limits.bytes}`] : []),
  ]
  if (full.length === 0) return
  throw new AppError('too_large', 'Your personas would hold more than one user may store', {
    details: [
      ...full.map((each) => `all of them together would have ${each}`),
      'Wipe memories, or remove personas or backups that are not needed; an operator can raise the limit',
    ],
  })
}
