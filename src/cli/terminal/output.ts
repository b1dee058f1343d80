import { escapedJson } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'
import { keepStyles } from './colour.ts'
import { stripControls } from './io.ts'

/** Prints a value: as JSON with --json, else as `human` writes it, without control characters on a terminal. */
export async function print<T>(cli: Cli, value: T, human: (value: T) => string | Promise<string>): Promise<void> {
  if (cli.globals().json) return printJson(cli, value)
  const written = await human(value)
  const text = cli.io.stdoutIsTerminal ? keepStyles(written, stripControls) : written
  if (text !== '') await cli.io.out(text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints a value as JSON; on a terminal control characters are written as JSON escapes. */
export async function printJson(cli: Cli, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`
  await cli.io.out(cli.io.stdoutIsTerminal ? escapedJson(text) : text)
}

/** Prints one removed thing, or several under their plural: `{"plugins":[…]}`. */
export async function printRemoved(cli: Cli, plural: string, removed: readonly { readonly id: string }[]) {
  await print(cli, removed.length === 1 ? removed[0] : { [plural]: removed }, () =>
    removed.map(({ id }) => id).join('\n'),
  )
}

/** Writes a remark to stderr, unless --quiet. */
export function note(cli: Cli, text: string): void {
  if (!cli.globals().quiet) cli.io.err(stripControls(text))
}
