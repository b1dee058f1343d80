import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SavedMessage } from '../../src/personas/chat/conversation.ts'
import { readSearch, snippetOf } from '../../src/personas/chat/search-words.ts'
import { openStorage } from '../../src/storage/storage.ts'

const sessions = 10_000
/** Words of a message. */
const shortest = 20
const longest = 220
/** Words of the language; their frequency falls with their rank. */
const vocabulary = 30_000

/** 10,000 sessions of one user among those of others: how long it takes to keep one, and to find words of any frequency. */
export async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-bench-'))
  const limits = { bytes: 1e9, memories: 1e6 }
  const storage = await openStorage({ folder, bundledPlugins: join(folder, 'none'), limits })
  try {
    const { conversations } = storage
    const random = generator()
    const keeping: number[] = []
    for (let at = 0; at < sessions; at++) {
      const user_id = at % 10 === 9 ? 'eve' : 'ada'
      const timestamp = 1_700_000_000_000 + at * 60_000
      const messages = Array.from({ length: 4 }, (_, index) => message(random, index % 2 === 0, timestamp))
      const start = performance.now()
      await conversations.keep({ id: `s${at}`, user_id, created_at: timestamp }, [`s${at}`], messages, sessions)
      keeping.push(performance.now() - start)
    }
    print(`keeping one of ${sessions}, on the disk`, keeping)
    for (const query of ['w0', 'w1 w2', 'w50', 'w5000', 'w29000', '"w1 w2"', 'w12*', 'w0 w25000', '東京', 'nothing']) {
      const times: number[] = []
      let hits = 0
      for (let round = 0; round < 200; round++) {
        const start = performance.now()
        const groups = readSearch(query)
        const found = await conversations.search('ada', { groups, limit: 21, offset: 0 })
        for (const { saved } of found) snippetOf(saved.message.content as string, groups)
        times.push(performance.now() - start)
        hits = found.length
      }
      print(`${query} (${hits > 20 ? 'over 20' : hits} hits)`, times)
    }
  } finally {
    await storage.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function message(random: () => number, isQuestion: boolean, timestamp: number): SavedMessage {
  const words = Array.from({ length: shortest + Math.floor(random() * (longest - shortest)) }, () => {
    // Zipf's law: the rank is log-uniform.
    const rank = Math.floor(vocabulary ** random()) - 1
    return `w${rank}`
  })
  if (random() < 0.001) words.push('東京へ行きました')
  return { message: { role: isQuestion ? 'user' : 'assistant', content: words.join(' ') }, timestamp }
}

/** A linear congruential generator, the same at each run (Numerical Recipes). */
function generator(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function print(title: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(2)
  process.stdout.write(`${title.padEnd(40)} p50 ${at(0.5).padStart(7)} ms   p99 ${at(0.99).padStart(7)} ms\n`)
}
