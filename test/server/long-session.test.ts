// With --all only: a whole sample.
import { existsSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { compaction } from '../../src/personas/chat/compaction.ts'
import { openUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a session of 2,000 messages and 8 MB')

const counts = '/proc/self/io'
const counted = existsSync(counts) ? test : test.skip

/** The bytes that this process has read and written so far. */
function transferred(): { readonly read: number; readonly written: number } {
  const [, read, written] = /rchar: (\d+)\nwchar: (\d+)/.exec(readFileSync(counts, 'utf8'))!
  return { read: Number(read), written: Number(written) }
}

const answering: Answer = (_request, response) => json(response, 200, completion('It is still cold.'))

counted('is opened, listed, continued, summarised and ended for the bytes of one with 20', async () => {
  const all = await openUsers({ provider: answering })
  try {
    const { conversations } = await all.installation.app.personas()
    const text = 'The harbour of Bern is old and cold. '.repeat(110)
    const batch = Array.from({ length: 20 }, (_, at) => ({
      message: { role: at % 2 === 0 ? ('user' as const) : ('assistant' as const), content: `${at} ${text}` },
    }))
    const filled = async (name: string, batches: number) => {
      const made = await conversations.create('ada-1', { name })
      for (let at = 0; at < batches; at++) await conversations.add(made, batch)
    }
    await filled('short', 1)
    await filled('long', 100)
    const cost = async (work: () => Promise<unknown>) => {
      await work()
      const before = transferred()
      await work()
      const after = transferred()
      return { read: after.read - before.read, written: after.written - before.written }
    }
    const steps: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
      opens: (name) => conversations.get('ada-1', name),
      reuses: (name) => conversations.create('ada-1', { name, reuse: true }),
      lists: () => conversations.list('ada-1', 10, 0),
      continues: async (name) =>
        conversations.add(await conversations.get('ada-1', name), [
          { message: { role: 'user', content: 'And now?' } },
          { message: { role: 'assistant', content: 'It is still cold.' } },
        ]),
      copies: (name) => all.ada('GET', `/api/sessions/${name}?last=20`),
      'asks with a summary': async (name) => {
        const asked = { session: name, messages: [{ role: 'user', content: 'And now?' }] }
        assert.is((await all.ada('POST', '/api/chat', asked)).status, 200)
        // Of the last messages and the summary, never of what it replaces.
        assert.ok(all.provider.received.at(-1)!.body.length < 3 * text.length)
      },
      'asks again': (name) => all.ada('POST', `/api/sessions/${name}/undo`, { files: true }),
    }
    for (const name of ['short', 'long']) {
      const made = await conversations.get('ada-1', name)
      await conversations.add(made, [compaction('They spoke of the harbour.', made.messages - 2)])
    }
    // Pages of an index that has grown: a few of 4 KiB.
    const slack = 64 * 1024
    for (const [step, work] of Object.entries(steps)) {
      const short = await cost(() => work('short'))
      const long = await cost(() => work('long'))
      assert.ok(long.read <= 1.3 * short.read + slack, `${step}: reads ${long.read} instead of ${short.read}`)
      assert.ok(long.written <= 1.3 * short.written + slack, `${step}: writes ${long.written}, not ${short.written}`)
    }
    assert.is((await conversations.get('ada-1', 'long')).messages, 2005)
  } finally {
    await all[Symbol.asyncDispose]()
  }
})

test.run()
