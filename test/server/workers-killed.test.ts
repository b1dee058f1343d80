// With --all only: a killed process.

import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { DaemonEnded, spawnDaemon } from '../helpers/program/daemon.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { textOf, withWorkers } from './worker-daemon.ts'

const test = suite('a service of two workers, of which some are killed')

const model = 'custom-model'
const messages = [{ role: 'user', content: 'x' }]
const chat = { body: { model, messages } }

test('a killed worker costs its own requests alone, and another one takes its place', () => {
  const open: ServerResponse[] = []
  const [role, hel, lo, end, done] = completionEvents(['Hel', 'lo'])
  const streams: Answer = (request, response) => {
    if (!JSON.parse(request.body).stream) return json(response, 200, completion('Hello'))
    open.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write(`${role}${hel}`)
  }
  return withWorkers(streams, async ({ first, second, url, token, workers, logged, child, stop }) => {
    const streamed = { body: { model, messages, stream: true } }
    const [lost, kept] = await Promise.all(
      [first, second].map((client) => client.open('POST', '/v1/chat/completions', streamed)),
    )
    const load = { isOn: true, failed: [] as string[], answered: 0 }
    // The connection of `second` is busy with its stream: each of these has one of its own.
    const anew = async () => {
      while (load.isOn) {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({ model, messages }),
        }).catch((reason: Error) => reason)
        if (response instanceof Error) load.failed.push(`${response.message}: ${response.cause}`)
        else if (response.status === 200) load.answered += (await response.text()) ? 1 : 0
        else load.failed.push(`${response.status}: ${await response.text()}`)
      }
    }
    const before = sumOf((await fetched(`${url}/metrics`)).text, 'aichat_chats_total')
    const cut = textOf(lost!).then(
      () => 'whole',
      () => 'cut',
    )
    process.kill(first.pid, 'SIGKILL')
    assert.is(await cut, 'cut')
    const running = [anew(), anew(), anew(), anew()]
    const [line] = await logged('a worker serves again')
    assert.is.not(line!['pid'], first.pid)
    load.isOn = false
    await Promise.all(running)
    assert.equal(load.failed, [])
    assert.ok(load.answered > 0)
    const told = await workers()
    assert.equal(told.map(({ phase, restarts }) => [phase, restarts]).sort(), [
      ['ready', 0],
      ['ready', 1],
    ])
    for (const response of open) response.end(`${lo}${end}${done}`)
    assert.match(await textOf(kept!), /"Hel"[\s\S]*"lo"[\s\S]*\[DONE\]/)
    const chats = async () => sumOf((await fetched(`${url}/metrics`)).text, 'aichat_chats_total')
    let after = await chats()
    // A worker that is too busy to answer in time is told with its counts of before.
    for (const begun = performance.now(); after < before + load.answered && performance.now() - begun < 20_000; )
      after = await chats()
    assert.ok(after >= before + load.answered, `${before} ${after} ${load.answered}`)
    assert.is(child.exitCode, null)
    assert.is(await stop(), 0)
  })
})

test('workers whose owner is killed finish their answers and end', () => {
  let held: ServerResponse | undefined
  return withWorkers(
    (_, response) => {
      held = response
    },
    async ({ first, second, workers, stop }) => {
      const answer = first.call('POST', '/v1/chat/completions', chat)
      while (!held) await workers()
      await stop('SIGKILL')
      json(held, 200, completion('Hello'))
      assert.is((await answer).status, 200)
      for (const { pid } of [first, second]) await until(() => !isRunning(pid))
    },
  )
})

test('a service whose workers end at their start again and again ends with the reason', async () => {
  const folder = temporaryFolder()
  const script = join(folder, 'dying.cjs')
  writeFileSync(script, "if (process.argv[2] === '__worker') process.kill(process.pid, 'SIGKILL')\n")
  try {
    await spawnDaemon({ NODE_OPTIONS: `--require ${script}` }, undefined, ['--workers', '2'])
    assert.unreachable('no worker can serve')
  } catch (reason) {
    assert.instance(reason, DaemonEnded)
    assert.is((reason as DaemonEnded).code, 69)
    assert.match((reason as DaemonEnded).message, /Worker [12] ended at its start: SIGKILL/)
  }
})

test.run()

/** Without a connection that is kept: its worker may be killed before the next request finds that it has ended. */
async function fetched(url: string): Promise<{ readonly text: string }> {
  return { text: await (await fetch(url, { headers: { connection: 'close' } })).text() }
}

/** The sum of a metric over its labels. */
function sumOf(text: string, name: string): number {
  const rows = text.split('\n').filter((line) => line.startsWith(`${name}{`))
  return rows.reduce((sum, row) => sum + Number(row.slice(row.lastIndexOf(' '))), 0)
}

/** Whether a process is there and is no zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
