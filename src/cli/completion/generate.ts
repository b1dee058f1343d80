import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { manual } from '../help/manual.ts'
import { treeOf } from '../help/tree.ts'
import { completionScript } from './script.ts'

/** Every file that follows from the command tree, by its path in the project. */
export function generated(program: Command): ReadonlyMap<string, string> {
  const root = treeOf(program)
  return new Map([
    ['completions/aichat.bash', completionScript('bash', root)],
    ['completions/_aichat', completionScript('zsh', root)],
    ['completions/aichat.fish', completionScript('fish', root)],
    ['man/aichat.1', manual(root)],
  ])
}

/** Writes them below a folder. */
export function generate(program: Command, folder: string): void {
  for (const [path, content] of generated(program)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}
