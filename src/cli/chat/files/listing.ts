import { counted } from '../../../formats/formats.ts'
import type { Cli } from '../../terminal/cli.ts'
import { note } from '../../terminal/output.ts'
import type { Attached } from './attachment.ts'
import { shownName } from './delimited.ts'

/** Lines of a list that are shown without -v. */
const mostLines = 20

/**
 * Tells on stderr the files that go in and those that do not: for a dry run and with -v all of them, else where the user
 * named a folder, a pattern or an address. Sizes are those of the files, tokens an estimate.
 */
export function tellFiles(cli: Cli, { files, leftOut, isFound }: Attached, isDryRun: boolean): void {
  const all = isDryRun || cli.globals().verbose === true
  if (files.length === 0 || !(isFound || all)) return
  const total = { bytes: sum(files.map(({ bytes }) => bytes)), tokens: sum(files.map(({ tokens }) => tokens)) }
  note(cli, `aichat: ${counted(files.length, 'file')}, ${amounts(total)}:`)
  tellLines(
    cli,
    files.map((file) => `  ${shownName(file.name)} (${file.type}, ${amounts(file)})`),
    all,
  )
  tellLines(
    cli,
    leftOut.map(({ name, reason }) => `aichat: left out: ${shownName(name)}: ${shownName(reason)}`),
    all,
  )
}

/** The same as data, for the JSON of a dry run. */
export function filesReport({ files, leftOut }: Attached) {
  return {
    files: files.map(({ name, type, bytes, tokens }) => ({ name, type, bytes, tokens })),
    left_out: leftOut.map(({ name, reason }) => ({ name, reason })),
  }
}

function tellLines(cli: Cli, lines: readonly string[], all: boolean): void {
  const shown = all ? lines : lines.slice(0, mostLines)
  if (shown.length > 0) note(cli, shown.join('\n'))
  if (shown.length < lines.length) note(cli, `  and ${lines.length - shown.length} more; -v shows all`)
}

function amounts({ bytes, tokens }: { readonly bytes: number; readonly tokens: number }): string {
  return `${sizeText(bytes)}, about ${counted(tokens, 'token')}`
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return counted(bytes, 'byte')
  const kibibytes = bytes / 1024
  return kibibytes < 1024 ? `${kibibytes.toFixed(1)} KiB` : `${(kibibytes / 1024).toFixed(1)} MiB`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
