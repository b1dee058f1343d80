import { escapedJson } from '../../formats/formats.ts'
import type { AnswerPrinter } from '../markdown/printer.ts'
import type { Cli } from '../terminal/cli.ts'

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
      /** Nano-USD. */
      readonly cost_nano: number | null
    }

/** Writes an event as a line of JSON. */
export async function printEvent(cli: Cli, event: ChatEvent): Promise<void> {
  const text = JSON.stringify(event)
  await cli.io.out(`${cli.io.stdoutIsTerminal ? escapedJson(text) : text}\n`)
}

/** Writes the text of an answer as events. */
export function eventPrinter(cli: Cli): AnswerPrinter {
  return {
    write: (text) => printEvent(cli, { type: 'text', text }),
    event: (event) => printEvent(cli, event),
    // Warnings are events.
    aside: async () => {},
    end: async () => {},
  }
}
