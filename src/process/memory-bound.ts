import { Worker } from 'node:worker_threads'

/** Milliseconds between two looks at the memory: data unpacks at some 500 MB a second. */
const lookMs = 20

/** Bytes that a child with one task of another's making may hold: a text, an expression, a schema. */
export const childMemory = 256 * 1024 * 1024

/**
 * Kills this process, a child, once it holds more than `childMemory`, and what the returned function has been given last: bytes
 * that large data needs in addition. A thread of its own looks, so that it does so while the main thread computes, and memory
 * outside of the heap counts too, such as that of WebAssembly.
 */
export function boundMemory(): (more: number) => void {
  const most = new Float64Array(new SharedArrayBuffer(8))
  most[0] = childMemory
  const look = `if (process.memoryUsage.rss() > workerData[0]) process.kill(process.pid, 'SIGKILL')`
  const code = `const { workerData } = require('node:worker_threads'); setInterval(() => { ${look} }, ${lookMs})`
  const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 8 }
  new Worker(code, { eval: true, execArgv: [], workerData: most, resourceLimits }).unref()
  return (more) => {
    most[0] = childMemory + more
  }
}
