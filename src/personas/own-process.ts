import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'

/** What came of a task: its result, or why it could not be done; `code` is that of a file system error. */
export type TaskAnswer<R> =
  | { readonly result: R }
  | { readonly failure: { readonly message: string; readonly code?: string } }

/**
 * Has a task done by a module beside this one in a process of its own: what computes for seconds would hold up every
 * other request here, and its memory would stay. The task goes over a channel that no list of processes shows.
 * Rejects with an Error of the failure's message and code.
 */
export function inOwnProcess<R>(module: string, task: unknown): Promise<R> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const child = fork(fileURLToPath(new URL(`./${module}.${extension}`, import.meta.url)), {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('message', (answer: TaskAnswer<R>) => {
      if ('result' in answer) resolve(answer.result)
      else
        reject(
          Object.assign(
            new Error(answer.failure.message),
            answer.failure.code !== undefined && { code: answer.failure.code },
          ),
        )
    })
    child.once('exit', () => reject(new AppError('internal', `The process of ${module} ended early`)))
    child.send(task as object)
  })
}

/** The other side: does the one task this process is sent, answers, and ends. It also ends when nobody waits any more. */
export function serveTask<T, R>(perform: (task: T) => R | Promise<R>): void {
  const stop = () => process.kill(process.pid)
  process.once('disconnect', stop)
  process.once('message', (task: T) => void answerOf(perform, task).then(send))

  function send(answer: TaskAnswer<R>): void {
    process.send?.(answer, () => {
      process.off('disconnect', stop)
      process.disconnect()
    })
  }
}

async function answerOf<T, R>(perform: (task: T) => R | Promise<R>, task: T): Promise<TaskAnswer<R>> {
  try {
    return { result: await perform(task) }
  } catch (reason) {
    const code = (reason as { code?: unknown } | null)?.code
    return { failure: { message: String(reason), ...(typeof code === 'string' && /^E[A-Z]+$/.test(code) && { code }) } }
  }
}
