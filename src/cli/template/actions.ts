import { AppError } from '../../errors.ts'
import { makeFolder } from '../../formats/formats.ts'
import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { listing } from '../terminal/table.ts'
import { findTemplate, readTemplate, templateFile, templateNames, templatesFolder } from './store.ts'
import { type Template, variablesOf } from './template.ts'

interface Row {
  readonly name: string
  readonly path: string
  readonly description: string
  readonly model: string | null
  readonly variables: readonly string[]
  /** The problem of a broken one. */
  readonly problem?: string
}

export async function list(cli: Cli): Promise<void> {
  const rows: Row[] = []
  for (const name of await templateNames(cli)) rows.push(await rowOf(cli, name))
  await print(cli, { templates: rows }, () =>
    listing(cli, rows, 'there are no templates yet: write NAME.yaml into the folder of aichat template path', [
      ['NAME', (row) => row.name],
      ['VARIABLES', (row) => row.variables.map((variable) => `$${variable}`).join(' ')],
      ['MODEL', (row) => row.model ?? ''],
      ['DESCRIPTION', (row) => row.problem ?? row.description],
    ]),
  )
}

async function rowOf(cli: Cli, name: string): Promise<Row> {
  const path = (await findTemplate(cli, name)) ?? ''
  try {
    const { template } = await readTemplate(cli, name)
    return { name, path, description: about(template), model: template.model ?? null, variables: variablesOf(template) }
  } catch (reason) {
    if (!(reason instanceof AppError)) throw reason
    const problem = `broken: ${[...reason.details, reason.message][0]}`
    return { name, path, description: '', model: null, variables: [], problem }
  }
}

/** The description of a template, else the beginning of its text. */
function about({ description, prompt, system }: Template): string {
  if (description !== undefined) return description
  const [line = ''] = (prompt ?? system ?? '').trim().split('\n')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

/** Prints the folder of the templates, which is made where it is not there yet, or the file of one. */
export async function path(cli: Cli, name: string | undefined): Promise<void> {
  const place = name === undefined ? await templatesFolder(cli) : await templateFile(cli, name)
  if (name === undefined) makeFolder(place)
  await print(cli, { path: place }, () => place)
}
