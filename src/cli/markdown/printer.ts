import type { Cli } from '../terminal/cli.ts'
import { rendersMarkdown } from '../terminal/colour.ts'
import { stripControls } from '../terminal/io.ts'

/** An event of --json-stream. */
export type ChatEvent =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string; readonly arguments: string }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'usage'
      readonly input_tokens: number
      readonly output_tokens: number
      readonly thinking_tokens: number
    }
  | {
      readonly type: 'end'
      /** In OpenAI's dialect; null where the provider gave none. */
      readonly finish_reason: string | null
      /** The plugin or runner, and the model. */
      readonly by: string | null
      readonly cost_nano: number | null
    }

interface Line {
  /** Whether text is in it that no line break has ended. */
  lineOpen: boolean
}

/** Writes a streamed answer to stdout. */
export interface AnswerPrinter {
  write(text: string): Promise<void>
  /** Prints something else between pieces of the answer. */
  aside(print: () => void): Promise<void>
  /** Writes what else happens, where the answer is written as events. */
  event?(event: ChatEvent): Promise<void>
  /** Writes the remaining text. May be called twice, and after a failure. */
  end(): Promise<void>
}

/** Opens the printer of an answer: Markdown is rendered at a terminal, and goes as it is into a pipe or with --plain. */
export async function openAnswerPrinter(cli: Cli, line: Line): Promise<AnswerPrinter> {
  if (!rendersMarkdown(cli)) return rawPrinter(cli, line)
  const { openMarkdownView } = await import('./view.ts')
  return openMarkdownView(cli)
}

/** Prints nothing of an answer that is printed when it is whole. */
export const silentPrinter: AnswerPrinter = {
  write: async () => {},
  aside: async (print) => print(),
  end: async () => {},
}

function rawPrinter(cli: Cli, line: Line): AnswerPrinter {
  return {
    async write(text) {
      line.lineOpen = !text.endsWith('\n')
      await cli.io.out(cli.io.stdoutIsTerminal ? stripControls(text) : text)
    },
    aside: async (print) => print(),
    end: async () => {},
  }
}

/** Prints a whole answer, which ends with a line break. */
export async function printAnswer(cli: Cli, text: string): Promise<void> {
  if (rendersMarkdown(cli)) {
    const { writeMarkdown } = await import('./view.ts')
    return writeMarkdown(cli, text)
  }
  const shown = cli.io.stdoutIsTerminal ? stripControls(text) : text
  await cli.io.out(shown.endsWith('\n') ? shown : `${shown}\n`)
}

/** Ends the line of a raw answer that stopped within one. */
export async function endLine(cli: Cli, line: Line): Promise<void> {
  if (!line.lineOpen) return
  line.lineOpen = false
  await cli.io.out('\n')
}
