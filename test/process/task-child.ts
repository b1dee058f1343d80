import { once } from 'node:events'
import { connect } from 'node:net'
import { AppError } from '../../src/errors.ts'
import { serveTask } from '../../src/process/child-side.ts'

export interface SampleTask {
  readonly action: 'double' | 'fail' | 'leave' | 'hold'
  readonly number?: number
  /** `hold` connects to it and ends when the other side hangs up. */
  readonly port?: number
}

serveTask(async ({ action, number = 0, port = 0 }: SampleTask) => {
  if (action === 'fail') throw new AppError('too_large', 'The package is too large', { details: ['split it'] })
  if (action === 'leave') process.kill(process.pid, 'SIGKILL')
  if (action === 'hold') {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'end')
    socket.end()
  }
  return number * 2
})
