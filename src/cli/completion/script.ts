import type { CommandNode } from '../help/tree.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

/** Shells with a completion script. */
export type Shell = 'bash' | 'zsh' | 'fish'

const scripts: Readonly<Record<Shell, (root: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/** The completion script of a shell for a command tree. */
export function completionScript(shell: Shell, root: CommandNode): string {
  return scripts[shell](root)
}
