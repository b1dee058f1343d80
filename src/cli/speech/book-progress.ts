import { countCharacters } from '../../../speech/speech.ts'
import { counted } from '../../formats/formats.ts'
import type { Cli } from '../terminal/cli.ts'
import { openProgress } from '../terminal/progress.ts'

/** A bar with the share of the characters that are spoken; within a part it moves at the pace of those before. */
export function showBookProgress(cli: Cli, parts: readonly string[], first: number) {
  const sizes = parts.map(countCharacters)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  const before = (index: number) => sizes.slice(0, index).reduce((sum, size) => sum + size, 0)
  const progress = openProgress(cli, before(first) / all)
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  return {
    begin(index: number) {
      clearInterval(timer)
      const done = before(index)
      const partAt = performance.now()
      const perMs = (done - before(first)) / Math.max(1, partAt - startedAt)
      const show = () => {
        const guessed = Math.min(0.95 * sizes[index]!, perMs * (performance.now() - partAt))
        progress.show((done + guessed) / all, `${index} of ${counted(parts.length, 'part')} spoken`)
      }
      show()
      timer = setInterval(show, 1000).unref()
    },
    clear() {
      clearInterval(timer)
      progress.clear()
    },
  }
}
