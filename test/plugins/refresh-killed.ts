/**
 * Refreshes one plugin and is killed at its nth step on the disk: at an open, in the middle of a write, at a flush, a
 * rename or a removal. Started by refresh-killed.test.ts as `HOME PLUGIN-SOURCE-URL N`; ends with 0 when it had fewer steps.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [home = '', step = ''] = process.argv.slice(2)
let left = Number.POSITIVE_INFINITY

const originals = { ...fs }
fs.openSync = ((...args: Parameters<typeof fs.openSync>) => {
  count()
  return originals.openSync(...args)
}) as typeof fs.openSync
fs.writeSync = ((file: number, bytes: Uint8Array, offset: number) => {
  // A write that is cut: half of it reaches the file.
  if (left === 1) originals.writeSync(file, bytes.subarray(offset, offset + Math.ceil((bytes.length - offset) / 2)))
  count()
  return originals.writeSync(file, bytes, offset)
}) as typeof fs.writeSync
for (const name of ['fsyncSync', 'closeSync', 'renameSync', 'rmSync'] as const) {
  const original = originals[name] as (...args: never[]) => unknown
  Object.assign(fs, {
    [name]: (...args: never[]) => {
      count()
      return original(...args)
    },
  })
}
syncBuiltinESMExports()

function count(): void {
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}

const { openApp } = await import('../../src/app/app.ts')
const { readSettings } = await import('../../src/settings/settings.ts')
const app = await openApp(readSettings({ AICHAT_HOME: home, HOME: home, CUSTOM_API_KEY: 'key' }))
const { lists } = await app.models()
left = Number(step)
for await (const row of lists.refresh({ plugins: ['custom'] })) if (row.error !== null) process.exitCode = 1
left = Number.POSITIVE_INFINITY
await app.close()
