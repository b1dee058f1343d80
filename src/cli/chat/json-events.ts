import { escapedJson } from '../../formats/formats.ts'
import type { AnswerPrinter, ChatEvent } from '../markdown/printer.ts'
import type { Cli } from '../terminal/cli.ts'

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
