import { readSettings, type Settings } from '../settings/settings.ts'
import { wordsOf } from './completion/words.ts'
import type { WordCli } from './terminal/cli.ts'

/**
 * The program behind a Tab: `aichat --timeout 1s __complete KIND [CONTEXT]`, as the scripts call it, without the command tree, which
 * takes as long as the words. Any other command line goes to the whole program. Returns the exit code.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const [timeout, _limit, command, kind, context] = argv
  if (timeout !== '--timeout' || command !== '__complete' || kind === undefined) return wholeProgram(argv)
  const words = await wordsOf(openCli(), kind, context)
  process.stdout.on('error', () => {})
  process.stdout.write(words.map((word) => `${word}\n`).join(''))
  return 0
}

async function wholeProgram(argv: readonly string[]): Promise<number> {
  return (await import('./main.ts')).main(argv)
}

function openCli(): WordCli {
  let settings: Settings | undefined
  return {
    globals: () => ({ color: 'auto', input: false }),
    async settings() {
      settings ??= readSettings()
      return settings
    },
  }
}
