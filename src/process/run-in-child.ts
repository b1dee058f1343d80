import { AppError } from '../errors.ts'
import { type ChildModule, type ChildOptions, spawnChild } from './child.ts'
import type { TaskMethods } from './frames.ts'
import { createWorkQueue } from './queue.ts'

/** Four tasks run at once, each in its process: twice as many as one user may have. 64 more may wait. */
const tasks = createWorkQueue({
  running: 4,
  waiting: 64,
  full: () => new AppError('busy', 'Too many packages are being worked on', { retryAfter: 10 }),
})

/**
 * Has a module do a task in a process of its own: seconds of computation would block the event loop, and their memory would
 * stay. Rejects with the error of the task (an AppError, or an Error with its message and code), with the signal's reason
 * once the process has ended, and with `busy` when too many tasks wait.
 */
export async function runInChild<R>(module: ChildModule, task: unknown, signal?: AbortSignal): Promise<R> {
  const leave = await tasks.enter(signal)
  try {
    const lost = () => new AppError('internal', `The process of ${module.name} ended early`)
    return (await runOnce({ module, lost }, task, signal)) as R
  } finally {
    leave()
  }
}

/** The same without the queue. The task crosses a channel that no list of processes shows. */
export async function runOnce(
  options: Pick<ChildOptions, 'module' | 'environment' | 'lost'>,
  task: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const child = spawnChild<TaskMethods>({ ...options, graceMs: 0 })
  try {
    return await child.request('perform', task, signal)
  } finally {
    child.kill()
  }
}
