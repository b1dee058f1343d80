// With --all only: a killed process.

import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { goodPassword, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('usage and a daemon that is killed')

/** The acceptance asks for 20, which take half a minute: AICHAT_ROUNDS=20. */
const rounds = Number(process.env['AICHAT_ROUNDS'] ?? 3)

test('kill -9 under load, several times: each finished answer is in the ledger once, and its sums agree', async () => {
  // Each answer tells a number of its own as its tokens, by which its row is known.
  const provider = await openStandIn((request, response) => {
    const { messages, stream } = JSON.parse(request.body)
    const usage = { prompt_tokens: Number(messages.at(-1).content), completion_tokens: 1, total_tokens: 1, cost: 1e-9 }
    if (!stream) return json(response, 200, { ...completion('answer'), usage })
    const counts = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [], usage }
    const events = completionEvents(['ans', 'wer'])
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end([...events.slice(0, -1), `data: ${JSON.stringify(counts)}\n\n`, events.at(-1)].join(''))
  })
  const home = temporaryFolder()
  const finished = new Set<number>()
  let asked = 0
  let token = ''
  try {
    for (let round = 0; round < rounds; round++) {
      const daemon = await spawnDaemon({ CUSTOM_API_KEY: 'sk-of-the-test' }, home)
      if (round === 0) {
        const { body } = await daemon.call('POST', '/api/auth/register', {
          body: { username: 'admin', password: goodPassword },
        })
        token = body.token
        await daemon.call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
        await daemon.call('POST', '/api/plugins/activate/custom', { token })
      }
      const clients = Array.from({ length: 8 }, (_, client) => chat(daemon.url, client % 2 === 0))
      // At any time in the middle of a batch, once some answers are there.
      const wanted = finished.size + 40 + ((round * 29) % 100)
      await until(() => finished.size >= wanted)
      await daemon.stop('SIGKILL')
      await Promise.all(clients)
    }
    const environment = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9' }
    const run = (...words: string[]) => runMain(['--local', ...words], { environment })
    const rows: { input_tokens: number; outcome: string }[] = JSON.parse(
      (await run('usage', 'export', '--json')).stdout,
    )
    const booked = rows.filter(({ outcome }) => outcome === 'answered').map(({ input_tokens }) => input_tokens)
    assert.is(new Set(booked).size, booked.length, 'an answer is booked twice')
    for (const number of finished) assert.ok(booked.includes(number), `the answer ${number} was finished and is lost`)
    assert.ok(booked.length <= asked)
    const checked = await run('usage', 'check')
    assert.equal([checked.code, checked.stdout], [0, 'the ledger and its sums agree\n'])
  } finally {
    await provider.close()
  }

  /** Asks one thing after the other until the service is gone. */
  async function chat(url: string, stream: boolean): Promise<void> {
    for (;;) {
      const number = ++asked
      try {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: String(number) }] }),
        })
        const text = await response.text()
        if (response.status !== 200) throw new Error(`${response.status} ${text}`)
        if (!stream || text.includes('[DONE]')) finished.add(number)
      } catch (reason) {
        // The connection is gone, or cut in the middle of an answer.
        if (reason instanceof TypeError) return
        throw reason
      }
    }
  }
})

test.run()
