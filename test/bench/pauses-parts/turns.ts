/**
 * Loaded into the daemon beside its own code: notes how much processor time each turn of the event loop takes, which other
 * programs on the machine do not lengthen. A line per turn of 20 ms and more goes to the file that AICHAT_BENCH_TURNS names.
 */
import { appendFileSync } from 'node:fs'

const path = process.env['AICHAT_BENCH_TURNS']
if (path) {
  let before = process.cpuUsage()
  setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const ms = (user + system) / 1000
    if (ms >= 20) appendFileSync(path, `${ms.toFixed(0)}\n`)
  }, 1).unref()
}
