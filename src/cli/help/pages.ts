import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'

/** A page of the manual: a Markdown file of `man/`. */
export interface ManualPage {
  /** Its name, such as `aichat-persona`. */
  readonly name: string
  /** The section of the manual, such as `1`. */
  readonly section: string
  /** What it is about, on one line. */
  readonly title: string
  readonly text: string
}

/** The pages of the manual, by section and name. Throws for a file that is none. */
export function manualPages(): readonly ManualPage[] {
  const folder = packageFolder('man')
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const [, name, section, title] = /^# ([\w-]+)\((\d)\): (.+)\n/.exec(text) ?? []
      if (!name || !section || !title) throw new Error(`man/${file} does not begin with "# NAME(SECTION): TITLE"`)
      return { name, section, title, text }
    })
    .sort((one, other) => (one.section + one.name < other.section + other.name ? -1 : 1))
}

/** The page with this name, also without `aichat-`; undefined where there is none. */
export function pageNamed(name: string): ManualPage | undefined {
  return manualPages().find((page) => page.name === name || page.name === `aichat-${name}`)
}

/** The topic that lists the pages. */
export function listOfPages(): string {
  const pages = manualPages()
  const width = Math.max(...pages.map(({ name }) => name.length + 3))
  const lines = pages.map(({ name, section, title }) => `  ${`${name}(${section})`.padEnd(width)}  ${title}\n`)
  return `${lines.join('')}\nRead one with aichat help NAME or man NAME; find a word with aichat help --search WORD.\n`
}

/** Prints the lines of all pages that contain a text, whatever its case. Throws `not_found` where no line does. */
export async function printSearch(cli: Cli, text: string): Promise<void> {
  const wanted = text.toLowerCase()
  const found = manualPages().flatMap(({ name, text: page }) =>
    page.split('\n').flatMap((line) => (line.toLowerCase().includes(wanted) ? [`${name}: ${line.trim()}\n`] : [])),
  )
  if (found.length === 0) throw new AppError('not_found', `No page of the manual contains "${text}"`)
  await cli.io.out(found.join(''))
}
