/**
 * Polls /health without pause and reports the longest answer time. Runs in a thread of its own, so that requests sent
 * beside it do not delay it.
 */
import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { url } = workerData as { url: string }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
/** Milliseconds between two questions. */
const everyMs = 3
let longest = 0
let askedAt = performance.now()

parentPort!.on('message', () => {
  // A question that still waits counts as long as it has waited.
  parentPort!.postMessage(Math.max(longest, performance.now() - askedAt))
  longest = 0
})

function ask(): void {
  askedAt = performance.now()
  const asked = get(`${url}/health`, { agent }, (response) => {
    response.resume()
    response.once('end', again)
  })
  asked.once('error', again)
}

function again(): void {
  longest = Math.max(longest, performance.now() - askedAt)
  setTimeout(ask, everyMs)
}

ask()
