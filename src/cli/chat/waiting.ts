import type { RequestWatch } from '../../chat/chat.ts'
import { printableLine } from '../../formats/formats.ts'
import { openBusyLine } from '../terminal/busy-line.ts'
import type { Cli } from '../terminal/cli.ts'
import { coloured } from '../terminal/colour.ts'

/** What a terminal tells while an answer is awaited: a line with the time, the step and the model. */
export interface Waiting {
  /** Hears what happens to the request in this process. */
  readonly watch: RequestWatch | undefined
  /** Names what happens now; with it the model, once it is known. */
  step(text: string, model?: string): void
  /** Takes a piece of what the model thinks, of which the last lines are shown where that is wished. */
  thinks(text: string): void
  /** Takes the line away: the answer has begun, or something else has the terminal, until the next step. */
  rest(): void
  /** Takes the line away for good. */
  end(): void
}

const frames = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏']
/** For terminals whose fonts have no Braille. */
const plainFrames = [...'|/-\\']

export const silentWaiting: Waiting = { watch: undefined, step() {}, thinks() {}, rest() {}, end() {} }

/** Whether stdout and stderr are one terminal that can take a line back, for a person who reads along. */
function canWait(cli: Cli): boolean {
  const { json, plain, quiet } = cli.globals()
  const { stdoutIsTerminal, stderrIsTerminal, environment } = cli.io
  const { TERM, CI } = environment
  return stdoutIsTerminal && stderrIsTerminal && TERM !== 'dumb' && !CI && !json && !plain && !quiet
}

/** Rows of thinking that are shown, and characters of it that they are made of. */
const thoughtRows = 4
const thoughtLength = 2_000

/** Opens the line for a question to this model; silent in a pipe, in CI, and with --json, --plain and --quiet. */
export function openWaiting(cli: Cli, asked: string | undefined, showsThinking = false): Waiting {
  if (!canWait(cli)) return silentWaiting
  const line = openBusyLine(cli.io)
  const spinner = cli.io.environment['TERM'] === 'linux' ? plainFrames : frames
  const begun = performance.now()
  let model = asked
  let now = 'connecting'
  let frame = 0
  /** The failure of the place before. */
  let failed: string | undefined
  let thought = ''
  let thoughtAt = 0
  const step = (text: string, of = model) => {
    now = text
    model = of
    line.show(rows)
  }
  step(now)
  return {
    watch: {
      asks({ plugin, runner, model: name }) {
        const place = plugin ?? runner
        step(failed === undefined ? 'connecting' : `fallback, ${failed} failed`, place ? `${place}:${name}` : name)
      },
      accepted: () => step('thinking'),
      retries({ plugin, runner, model: name }, waitMs) {
        const seconds = Math.round(waitMs / 1000)
        step(`retry at ${plugin ?? runner ?? name}${seconds > 0 ? ` in ${seconds} s` : ''}`)
      },
      attempted({ outcome, plugin, runner, model: name }) {
        if (outcome === 'failed') failed = plugin ?? runner ?? name
      },
    },
    step,
    thinks(text) {
      if (thought === '') thoughtAt = performance.now()
      thought = `${thought}${text}`.slice(-thoughtLength)
      if (now !== 'thinking') step('thinking')
    },
    rest() {
      line.rest()
      if (thought !== '' && showsThinking) {
        const seconds = Math.round((performance.now() - thoughtAt) / 1000)
        cli.io.err(coloured(cli, 'stderr', 'dim', `thought for ${seconds} s`))
      }
      thought = ''
    },
    end: () => line.end(),
  }

  function rows(): readonly string[] {
    const seconds = Math.floor((performance.now() - begun) / 1000)
    const text = [`${seconds} s`, now, ...(model === undefined ? [] : [model])].join(' · ')
    const mark = spinner[frame++ % spinner.length]!
    const width = Math.max(10, cli.io.columns - 1)
    const thoughts = showsThinking ? lastRows(thought, width, Math.min(thoughtRows, cli.io.rows - 3)) : []
    return [
      ...thoughts.map((row) => coloured(cli, 'stderr', 'dim', row)),
      `${mark} ${printableLine(text)}`.slice(0, width),
    ]
  }
}

/** The last rows of a text in a window of so many columns. */
function lastRows(text: string, width: number, most: number): readonly string[] {
  const rows: string[] = []
  for (const line of text.trimEnd().split('\n')) {
    let row = ''
    let columns = 0
    for (const word of printableLine(line)
      .split(/(?<= )/)
      .flatMap((long) => pieces(long, width))) {
      const size = columnsOf(word)
      if (columns + size > width && row !== '') {
        rows.push(row)
        row = ''
        columns = 0
      }
      row += word
      columns += size
    }
    if (row.trim() !== '') rows.push(row)
  }
  return rows.slice(-most).map((row) => row.trimEnd())
}

/** A word that is longer than a row, cut; its characters may be two columns wide. */
function pieces(word: string, width: number): readonly string[] {
  if (columnsOf(word) <= width) return [word]
  const characters = [...word]
  const size = Math.max(1, Math.floor(width / 2))
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  )
}

/** The columns that a text takes at most: of a character beyond Latin, Greek and Cyrillic two. */
function columnsOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (character > '\u10ff' ? 2 : 1), 0)
}
