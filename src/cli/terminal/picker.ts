import { AppError } from '../../errors.ts'
import { printableLine } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'
import { askTerminal, canAsk } from './prompts.ts'

/** One of the things that a picker offers. */
export interface Choice {
  readonly value: string
  /** What is shown of it, and searched; by default the value. */
  readonly text?: string
}

/** Choices that are shown for what was typed: more are found by typing on. */
const mostFound = 100

/** Whether a picker can be shown: a question can be asked, on a terminal that draws lines anew. */
export async function canPick(cli: Cli): Promise<boolean> {
  return (await canAsk(cli)) && cli.io.environment['TERM'] !== 'dumb'
}

/**
 * Asks for one of many on a terminal: the choices that hold all typed words are shown while one types. `all` is called
 * once, and again for what was typed where it depends on that. Ctrl-C throws `Interrupted`.
 */
export async function pick(
  cli: Cli,
  message: string,
  all: (typed: string) => Promise<readonly Choice[]>,
): Promise<string> {
  const shown = Math.max(10, cli.io.columns - 3)
  return askTerminal<string>(cli, {
    type: 'search',
    message,
    pageSize: 12,
    async source(typed = '') {
      const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
      const found = (await all(typed)).filter(({ value, text = value }) =>
        words.every((word) => text.toLowerCase().includes(word)),
      )
      return found
        .slice(0, mostFound)
        .map(({ value, text = value }) => ({ value, name: printableLine(text).slice(0, shown) }))
    },
  })
}

/** The given name, else the picked one. Throws `usage` where nobody can be asked, `not_found` for an empty list. */
export async function givenOrPicked(
  cli: Cli,
  kind: string,
  given: string | undefined,
  names: () => Promise<readonly string[]>,
): Promise<string> {
  if (given !== undefined) return given
  if (!(await canPick(cli))) throw new AppError('usage', `Name a ${kind}: aichat ${kind} list shows them`)
  const choices = (await names()).map((value) => ({ value }))
  if (choices.length === 0) throw new AppError('not_found', `There is no ${kind} yet`)
  return pick(cli, `Which ${kind}?`, async () => choices)
}
