import type { RequestWatch } from '../../chat/chat.ts'
import { printableLine } from '../../formats/formats.ts'
import { openBusyLine } from '../terminal/busy-line.ts'
import type { Cli } from '../terminal/cli.ts'

/** What a terminal tells while an answer is awaited: a line with the time, the step and the model. */
export interface Waiting {
  /** Hears what happens to the request in this process. */
  readonly watch: RequestWatch | undefined
  /** Names what happens now; with it the model, once it is known. */
  step(text: string, model?: string): void
  /** Takes the line away: the answer has begun, or something else has the terminal, until the next step. */
  rest(): void
  /** Takes the line away for good. */
  end(): void
}

const frames = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏']
/** For terminals whose fonts have no Braille. */
const plainFrames = [...'|/-\\']

const silent: Waiting = { watch: undefined, step() {}, rest() {}, end() {} }

/** Whether stdout and stderr are one terminal that can take a line back, for a person who reads along. */
function canWait(cli: Cli): boolean {
  const { json, plain, quiet } = cli.globals()
  const { stdoutIsTerminal, stderrIsTerminal, environment } = cli.io
  const { TERM, CI } = environment
  return stdoutIsTerminal && stderrIsTerminal && TERM !== 'dumb' && !CI && !json && !plain && !quiet
}

/** Opens the line for a question to this model; silent in a pipe, in CI, and with --json, --plain and --quiet. */
export function openWaiting(cli: Cli, asked: string | undefined): Waiting {
  if (!canWait(cli)) return silent
  const line = openBusyLine(cli.io)
  const spinner = cli.io.environment['TERM'] === 'linux' ? plainFrames : frames
  const begun = performance.now()
  let model = asked
  let now = 'connecting'
  let frame = 0
  /** The failure of the place before. */
  let failed: string | undefined
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
    rest: () => line.rest(),
    end: () => line.end(),
  }

  function rows(): readonly string[] {
    const seconds = Math.floor((performance.now() - begun) / 1000)
    const text = [`${seconds} s`, now, ...(model === undefined ? [] : [model])].join(' · ')
    const mark = spinner[frame++ % spinner.length]!
    return [`${mark} ${printableLine(text)}`.slice(0, Math.max(10, cli.io.columns - 1))]
  }
}
