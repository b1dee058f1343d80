import { AppError } from '../errors.ts'
import { spawnChild } from '../process/process.ts'
import type { Manifest } from './manifest.ts'
import type { CreateTask, OpenTask, Step } from './work.ts'

export type BackupMethods = {
  readonly create: { readonly input: CreateTask; readonly item: Step; readonly result: Manifest }
  readonly open: { readonly input: OpenTask; readonly item: Step; readonly result: Manifest }
}

/** Does a task in a process of its own and tells how far it is. Rejects with its error, or the signal's reason. */
export async function inChild<K extends keyof BackupMethods>(
  method: K,
  task: BackupMethods[K]['input'],
  onStep: (step: Step) => void,
  signal: AbortSignal | undefined,
): Promise<Manifest> {
  const child = spawnChild<BackupMethods>({
    module: { beside: import.meta.url, name: './backup-child' },
    graceMs: 0,
    lost: (reason) => new AppError('internal', 'The process of the backup ended early', { cause: new Error(reason) }),
  })
  try {
    const steps = child.stream(method, task, signal)
    for (;;) {
      const next = await steps.next()
      if (next.done) return next.value as Manifest
      onStep(next.value as Step)
    }
  } finally {
    child.kill()
  }
}
