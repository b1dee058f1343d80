import { AppError } from '../../errors.ts'
import { takeSeat } from '../../mcp-server/mcp-server.ts'
import { type Ask, listPersonas } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { parseDuration } from '../terminal/parsers.ts'
import { firstOf } from '../terminal/stop-signal.ts'

/** Serves a persona's memory on stdin and stdout until the client closes stdin; remarks go to stderr alone. */
export async function serve(
  cli: Cli,
  { persona, readOnly = false }: { persona?: string; readOnly?: boolean },
): Promise<void> {
  cli.endsWithSignal = true
  const { io } = cli
  const seat = await takeSeat(askEach(cli), persona ?? (await usualPersona(cli)), { readOnly })
  if (io.stdinIsTerminal)
    note(cli, 'aichat: this speaks JSON-RPC with a program; let an MCP client start it, or end it with Ctrl-D')
  const { serveSeat } = await import('../../mcp-server/stdio.ts')
  await serveSeat(seat, {
    input: io.stdin,
    async write(text) {
      await io.out(text)
      if (io.outClosed) io.stdin.destroy()
    },
    signal: io.signal,
    remark: (text) => cli.globals().verbose && note(cli, `aichat: ${text}`),
  })
}

/** Operations with a time limit each: `--timeout` is that of a call, not of the service. */
function askEach(cli: Cli): Ask {
  const { timeout } = cli.globals()
  if (timeout === undefined) return (operation, input) => cli.ask(operation, input, cli.io.signal)
  return async (operation, input) => {
    const { signal, release } = firstOf([cli.io.signal], parseDuration(timeout))
    try {
      return await cli.ask(operation, input, signal)
    } finally {
      release()
    }
  }
}

/** The persona of the settings, else the only one. Throws `usage` where there are several or none. */
async function usualPersona(cli: Cli): Promise<string> {
  const { persona } = await cli.settings()
  if (persona !== undefined) return persona
  const { personas } = await cli.ask(listPersonas, {})
  if (personas.length === 1) return personas[0]!.id
  throw new AppError('usage', personas.length === 0 ? 'There is no persona yet' : 'Which persona?', {
    details:
      personas.length === 0
        ? ['Create one: aichat persona create --name Ada --model MODEL']
        : [`Add --persona with one of: ${personas.map(({ name }) => name).join(', ')}`],
  })
}
