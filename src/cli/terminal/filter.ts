import { AppError } from '../../errors.ts'
import { openJsonFilter } from '../../formats/json-filter.ts'
import type { Cli, OutputFilter } from './cli.ts'
import { type Io, stripControls } from './io.ts'

/** Lines of JSON that are filtered at a time, in bytes: jq holds some eight times as much. */
const mostLines = 64 * 1024 * 1024

/** The most that jq can hold at a time: bytes. Node's longest text has 512 MiB. */
const mostJson = 256 * 1024 * 1024

/**
 * Sends all that a command prints on stdout through a jq expression (--jq). Long streams of JSON lines are filtered piece by
 * piece, unless the expression reads further inputs itself. Throws `usage` for an invalid expression, before the command has
 * done anything.
 */
export async function filterOutput(cli: Cli, expression: string): Promise<OutputFilter> {
  const { io } = cli
  const filter = await openJsonFilter(expression, io.signal)
  const readsOn = /\binputs?\b/.test(expression)
  let pieces: Buffer[] = []
  let size = 0
  cli.io = Object.create(io, { out: { value: take } }) as Io
  return {
    flush: () => write(Buffer.concat(takeAll())),
    close() {
      cli.io = io
      filter.close()
    },
  }

  async function take(data: string | Uint8Array): Promise<void> {
    if (io.outClosed || data.length === 0) return
    pieces.push(Buffer.from(data))
    size += pieces.at(-1)!.length
    if (size > mostLines && !readsOn) await writeLines()
    if (size > mostJson) throw new AppError('too_large', `--jq filters at most ${mostJson / 2 ** 20} MiB of JSON`)
  }

  /** Filters the whole lines so far, where the output is a JSON value a line. */
  async function writeLines(): Promise<void> {
    const all = Buffer.concat(takeAll())
    const end = all.lastIndexOf(10) + 1
    const isLines = end > 0 && isJson(all.subarray(0, all.indexOf(10)))
    const rest = isLines ? all.subarray(end) : all
    pieces = [rest]
    size = rest.length
    if (isLines) await write(all.subarray(0, end))
  }

  async function write(json: Buffer): Promise<void> {
    if (json.length === 0 || io.outClosed) return
    const text = await filter.apply(json.toString('utf8'), cli.signal())
    if (text !== '') await io.out(io.stdoutIsTerminal ? stripControls(text) : text)
  }

  function takeAll(): readonly Buffer[] {
    const all = pieces
    pieces = []
    size = 0
    return all
  }
}

function isJson(line: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(line).toString('utf8'))
    return true
  } catch {
    return false
  }
}
