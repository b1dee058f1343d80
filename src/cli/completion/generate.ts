import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manual } from '../help/manual.ts'
import { pageRoff } from '../help/page-roff.ts'
import { manualPages } from '../help/pages.ts'
import { pluginFieldsRoff } from '../help/plugin-file.ts'
import { treeOf } from '../help/tree.ts'
import type { CliCommand } from '../terminal/command.ts'

/** The generated files, by their path in the project. */
export function generated(program: CliCommand): ReadonlyMap<string, string> {
  const root = treeOf(program)
  const pages = manualPages()
  return new Map([
    ['man/aichat.1', manual(root, pages)],
    ...pages.map((page) => {
      const fields = page.name === 'aichat-plugin' ? pluginFieldsRoff() : []
      return [`man/${page.name}.${page.section}`, pageRoff(page, pages, fields)] as const
    }),
  ])
}

/** Writes the generated files below a folder. */
export function generate(program: CliCommand, folder: string): void {
  for (const [path, content] of generated(program)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}
