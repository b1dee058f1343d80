import { serveParent } from '../process/process.ts'
import type { BackupMethods } from './in-child.ts'
import { create, openBackup, type Step } from './work.ts'

// Runs in a process of its own, see in-child.ts: a database is copied and read in long steps.
serveParent<BackupMethods>({
  create: (task, { emit }) => create(task, now(emit)),
  open: (task, { emit }) => openBackup(task, now(emit)),
})

/** Emits progress without waiting for the parent, once per hundredth at most. */
function now(emit: (step: Step) => Promise<void>): (step: Step) => void {
  let last: Step | undefined
  return (step) => {
    if (last?.doing === step.doing && step.share - last.share < 0.01) return
    last = step
    void emit(step)
  }
}
