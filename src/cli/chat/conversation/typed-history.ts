import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openHistoryFile } from '../../line/history-file.ts'
import type { History } from '../../line/prompt-line.ts'
import type { Cli } from '../../terminal/cli.ts'
import { note } from '../../terminal/output.ts'

/**
 * The lines typed in earlier conversations of this place: in this process or at a server, as one user, with a persona
 * or with none. In memory alone with --no-log or chat.history=off, or where the file is not ours, which is noted.
 */
export async function typedHistory(cli: Cli, persona: string | undefined, keeps: boolean): Promise<History> {
  const { paths, chatHistory } = await cli.settings()
  if (!chatHistory || !keeps) return historyOf([], () => {})
  const { server } = await cli.backend()
  const path = join(paths.state, 'typed', fileName(server, cli.globals().as, persona))
  try {
    const { lines, append } = openHistoryFile(path)
    return historyOf(lines, append)
  } catch (reason) {
    note(cli, `aichat: the history ${path} is not used: ${(reason as Error).message}`)
    return historyOf([], () => {})
  }
}

/** Lines that are held in memory. */
const mostHeld = 2_000

/** A history of lines, the oldest first; `keep` is called with each that is added and is another than the one before. */
function historyOf(before: readonly string[], keep: (line: string) => void): History {
  const lines = before.slice(-mostHeld).reverse()
  return {
    lines,
    add(line) {
      if (line === lines[0]) return
      lines.unshift(line)
      lines.splice(mostHeld)
      keep(line)
    },
  }
}

/** A name that can be read, and cannot be that of another place. */
function fileName(...place: readonly (string | undefined)[]): string {
  const [server = 'local', ...others] = place
  const words = [server, ...others].filter((word) => word !== undefined)
  const readable = words
    .join('-')
    .replace(/[^\p{L}\p{N}.]+/gu, '-')
    .slice(0, 40)
  return `${readable}-${createHash('sha256')
    .update(JSON.stringify(place.map((word) => word ?? null)))
    .digest('hex')
    .slice(0, 8)}`
}
