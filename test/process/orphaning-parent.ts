/** Starts a child that is connected to a port and never asked again; the test kills this process. */
import { spawnChild } from '../../src/process/child.ts'
import { runInChild } from '../../src/process/run-in-child.ts'
import type { FaultyMethods } from './faulty-child.ts'

const [port, kind] = [Number(process.argv[2]), process.argv[3]]

if (kind === 'task') await runInChild({ beside: import.meta.url, name: './task-child' }, { action: 'hold', port })
else {
  const child = spawnChild<FaultyMethods>({
    module: { beside: import.meta.url, name: './faulty-child' },
    graceMs: 1000,
    lost: (reason) => new Error(reason),
  })
  await child.request('connect', port)
  await child.request('wait', null)
}
