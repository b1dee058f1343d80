import { loadavg } from 'node:os'
import { median, print } from '../parts/figures.ts'
import type { Contestant } from './contestant.ts'
import { ask, type Kind } from './exchange.ts'
import { load } from './load.ts'

export const rounds = Number(process.env['AICHAT_BENCH_ROUNDS'] ?? 5)
/** Seconds of a round; AICHAT_BENCH_SECONDS gives others. */
export const roundSeconds = Number(process.env['AICHAT_BENCH_SECONDS'] ?? 2)

const connections = 32

/** Answers before the first round: by then the paths of all are compiled. */
const warmAnswers = 500

/** One way to ask: `others` are measured beside `base`, whose processor time is the whole. */
export interface Row {
  readonly name: string
  readonly base: Contestant
  readonly others: readonly Contestant[]
}

/**
 * Prints the rate that each row's contestants allow as a share of the base's: its processor time by theirs. The speed
 * of a machine changes within minutes, so a share is of one round, in which all of a row are loaded one after another;
 * each begins in turn. Medians over the rounds, with the least and the greatest; then the share and the processor time of the
 * least times of all rounds, which hold the least of what else the machine does.
 */
export async function shares(title: string, kind: Kind, columns: readonly string[], rows: readonly Row[]) {
  const heads = columns.map((column) => `${column.padStart(25)}   least   CPU ms`).join('')
  print(`\n${title}, ${connections} connections (load of the machine ${loadavg()[0]!.toFixed(1)})`)
  print(`  ${''.padEnd(24)}base CPU ms${heads}`)
  for (const { name, base, others } of rows) {
    const all = [base, ...others]
    for (const contestant of all) {
      await ask(contestant, kind)
      for (let done = 0; done < warmAnswers; ) done += (await load(contestant, kind, 4, 2)).requests
    }
    const times: number[][] = []
    for (let round = 0; round < rounds; round++) {
      const taken: number[] = []
      for (let turn = 0; turn < all.length; turn++) {
        const at = (turn + round) % all.length
        // Seconds per 1,000 requests are milliseconds of one.
        taken[at] = (await load(all[at]!, kind, connections, roundSeconds)).cpuPerThousand
      }
      times.push(taken)
    }
    const cells = others.map((_, at) => {
      const of = times.map((taken) => (100 * taken[0]!) / taken[at + 1]!)
      const range = `${median(of).toFixed(1)} % (${Math.min(...of).toFixed(1)}–${Math.max(...of).toFixed(1)})`
      const [leastBase, least] = [0, at + 1].map((each) => Math.min(...times.map((taken) => taken[each]!)))
      const share = `${((100 * leastBase!) / least!).toFixed(1)} %`
      return `${range.padStart(25)}${share.padStart(8)}${least!.toFixed(3).padStart(9)}`
    })
    print(
      `  ${name.padEnd(24)}${median(times.map(([first]) => first!))
        .toFixed(3)
        .padStart(11)}${cells.join('')}`,
    )
  }
}
