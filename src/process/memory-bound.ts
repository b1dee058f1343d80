import { Worker } from 'node:worker_threads'

/** Milliseconds between two looks at the memory: data unpacks at some 500 MB a second. */
const lookMs = 50

/**
 * Kills this process, a child, once it holds more bytes than these. A thread of its own looks, so that it does so while the
 * main thread computes, and memory outside of the heap counts too.
 */
export function boundMemory(bytes: number): void {
  const look = `if (process.memoryUsage.rss() > ${bytes}) process.kill(process.pid, 'SIGKILL')`
  new Worker(`setInterval(() => { ${look} }, ${lookMs})`, { eval: true, execArgv: [] }).unref()
}
