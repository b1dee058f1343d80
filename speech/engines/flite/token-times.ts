/** When the words of a text are heard: flite prints the end of each sound with the audio, and the sounds of each word alone. */
import { createRecent } from '../../shared/recent.ts'
import type { ProgramRun } from './wasi.ts'

/** A sound of flite's with its time in seconds; pauses are left out. */
interface Sound {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** When a token is heard, in seconds; undefined for one that is silent, such as a dash. */
export type TokenTime = { readonly start: number; readonly end: number } | undefined

/** Times the tokens of a text, in the seconds of flite's own audio. */
export type TimeTokens = (text: string, printed: string) => readonly TokenTime[]

/** Words with cached sounds. */
const keptWords = 4000

/** Times tokens by the output of flite's `-psdur` for the same text. */
export function createTokenTimer(run: ProgramRun): TimeTokens {
  const known = createRecent<readonly string[]>(keptWords)
  return (text, printed) => {
    const sounds = readSounds(printed)
    const tokens = text.split(/\s+/).filter(Boolean)
    const expected = tokens.flatMap((token, index) => soundsOf(token).map((name) => ({ name, index })))
    const owners = alignSounds(
      sounds.map(({ name }) => name),
      expected.map(({ name }) => name),
    ).map((at) => expected[at]?.index ?? 0)
    const times: TokenTime[] = tokens.map(() => undefined)
    for (const [at, { start, end }] of sounds.entries())
      times[owners[at]!] = { start: times[owners[at]!]?.start ?? start, end }
    return times
  }

  /** The sounds of a word that stands alone; the smallest voice says them soonest, and all have the same lexicon. */
  function soundsOf(token: string): readonly string[] {
    const found = known.get(token)
    if (found) return found
    const { output } = run(['flite', '-voice', 'kal16', '-ps', '-t', token, '-o', 'none'])
    const names = output.split(/\s+/).filter((name) => name !== '' && name !== 'pau')
    known.set(token, names)
    return names
  }
}

/** The list `name:end name:end …`. */
function readSounds(printed: string): readonly Sound[] {
  const sounds: Sound[] = []
  let start = 0
  for (const [, name, seconds] of printed.matchAll(/(?<!\S)(\S+):(\d+(?:\.\d+)?)(?=\s|$)/g)) {
    const end = Number(seconds)
    if (name !== 'pau') sounds.push({ name: name!, start, end })
    start = end
  }
  return sounds
}

/**
 * For each heard sound the expected one that it stands for, in the order of both, with the fewest changes: in a sentence a
 * sound may be changed, added or left out. An added one belongs to the one before.
 */
function alignSounds(heard: readonly string[], expected: readonly string[]): readonly number[] {
  const width = expected.length + 1
  const costs = new Uint16Array((heard.length + 1) * width)
  for (let row = 0; row <= heard.length; row++)
    for (let column = 0; column < width; column++) {
      if (row === 0 || column === 0) costs[row * width + column] = row + column
      else
        costs[row * width + column] = Math.min(
          costs[(row - 1) * width + column - 1]! + (heard[row - 1] === expected[column - 1] ? 0 : 1),
          costs[(row - 1) * width + column]! + 1,
          costs[row * width + column - 1]! + 1,
        )
    }
  const found = new Array<number>(heard.length).fill(0)
  let row = heard.length
  let column = expected.length
  while (row > 0) {
    const cost = costs[row * width + column]!
    const change = heard[row - 1] === expected[column - 1] ? 0 : 1
    if (column > 0 && cost === costs[(row - 1) * width + column - 1]! + change) {
      found[--row] = --column
    } else if (column > 0 && cost === costs[row * width + column - 1]! + 1) column--
    else found[--row] = Math.max(0, column - 1)
  }
  return found
}
