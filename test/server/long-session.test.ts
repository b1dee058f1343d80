import { existsSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a session of 2,000 messages and 8 MB')

const counts = '/proc/self/io'
const counted = existsSync(counts) ? test : test.skip

/** The bytes that this process has read and written so far. */
function transferred(): { readonly read: number; readonly written: number } {
  const [, read, written] = /rchar: (\d+)\nwchar: (\d+)/.exec(readFileSync(counts, 'utf8'))!
  return { read: Number(read), written: Number(written) }
}

counted('is opened, listed and continued for the bytes of one with 20', async () => {
  const { app, close } = openInstallation({})
  try {
    const { conversations } = await app.personas()
    const text = 'The harbour of Bern is old and cold. '.repeat(110)
    const batch = Array.from({ length: 20 }, (_, at) => ({
      message: { role: at % 2 === 0 ? ('user' as const) : ('assistant' as const), content: `${at} ${text}` },
    }))
    const filled = async (name: string, batches: number) => {
      const made = await conversations.create('local', { name })
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
      opens: (name) => conversations.get('local', name),
      reuses: (name) => conversations.create('local', { name, reuse: true }),
      lists: () => conversations.list('local', 10, 0),
      continues: async (name) =>
        conversations.add(await conversations.get('local', name), [
          { message: { role: 'user', content: 'And now?' } },
          { message: { role: 'assistant', content: 'It is still cold.' } },
        ]),
    }
    // Pages of an index that has grown: a few of 4 KiB.
    const slack = 64 * 1024
    for (const [step, work] of Object.entries(steps)) {
      const short = await cost(() => work('short'))
      const long = await cost(() => work('long'))
      assert.ok(long.read <= 1.3 * short.read + slack, `${step}: reads ${long.read} instead of ${short.read}`)
      assert.ok(long.written <= 1.3 * short.written + slack, `${step}: writes ${long.written}, not ${short.written}`)
    }
    assert.is((await conversations.get('local', 'long')).messages, 2004)
  } finally {
    await close()
  }
})

test.run()
