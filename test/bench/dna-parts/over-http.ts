import { createReadStream, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { goodPassword, removeHome, spawnDaemon } from '../../helpers/program/daemon.ts'

/** What an import over HTTP costs those who use the service meanwhile: milliseconds. */
export interface ImportOverHttp {
  /** From the request to its answer. */
  readonly ms: number
  readonly longestWait: number
  /** The most processor time, of all threads, in one turn of the event loop; the import's own thread included. */
  readonly longestTurn: number
}

/** Imports a package into a daemon of its own, while a thread asks it for `/health` without pause. */
export async function importOverHttp(file: string, folder: string): Promise<ImportOverHttp> {
  const ending = fileURLToPath(import.meta.url).endsWith('.ts') ? 'ts' : 'js'
  const turns = join(folder, 'turns')
  writeFileSync(turns, '')
  const daemon = await spawnDaemon({
    AICHAT_LOG_LEVEL: 'error',
    AICHAT_BENCH_TURNS: turns,
    NODE_OPTIONS: `--import ${new URL(`../pauses-parts/turns.${ending}`, import.meta.url).href}`,
  })
  const prober = new Worker(new URL(`../pauses-parts/prober.${ending}`, import.meta.url), {
    workerData: { url: daemon.url },
  })
  const longest = () =>
    new Promise<number>((resolve) => {
      prober.once('message', resolve)
      prober.postMessage('tell')
    })
  try {
    const login = await daemon.call('POST', '/api/auth/register', { body: { username: 'ada', password: goodPassword } })
    await longest()
    writeFileSync(turns, '')
    const begun = performance.now()
    const status = await post(`${daemon.url}/api/personas/import`, file, (login.body as { token: string }).token)
    const ms = performance.now() - begun
    if (status !== 201) throw new Error(`the import was answered with ${status}`)
    return {
      ms,
      longestWait: await longest(),
      longestTurn: Math.max(...readFileSync(turns, 'utf8').split('\n').map(Number)),
    }
  } finally {
    await prober.terminate()
    await daemon.stop()
    removeHome(daemon)
    rmSync(turns, { force: true })
  }
}

/** The status of the answer to a file that is sent as it is read. */
function post(url: string, file: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': file.endsWith('container') ? 'application/octet-stream' : 'application/json',
          'content-length': statSync(file).size,
        },
      },
      (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode!))
      },
    )
    sent.once('error', reject)
    createReadStream(file).pipe(sent)
  })
}
