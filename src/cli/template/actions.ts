import { AppError } from '../../errors.ts'
import { readSchema } from '../chat/schema/given-schema.ts'
import type { Cli } from '../terminal/cli.ts'
import { editText } from '../terminal/editor.ts'
import { readInput } from '../terminal/files.ts'
import { note, print, printRemoved } from '../terminal/output.ts'
import type { Parameters, Variables } from '../terminal/parameters.ts'
import { given } from '../terminal/parsers.ts'
import { confirm } from '../terminal/prompts.ts'
import { table } from '../terminal/table.ts'
import {
  checkName,
  findTemplate,
  keepDraft,
  readDraft,
  readTemplate,
  removeDraft,
  removeTemplate,
  templateFile,
  templateNames,
  templatesFolder,
  writeTemplate,
} from './store.ts'
import { longestTemplate, parseTemplate, type Template, variablesOf } from './template.ts'

interface CreateOptions {
  readonly system?: string
  readonly prompt?: string
  readonly model?: string
  readonly option?: Parameters
  readonly schema?: string
  readonly file?: readonly string[]
  readonly default?: Variables
  readonly description?: string
  readonly force?: boolean
}

/** Keeps a template from options, a file or stdin. Throws `cannot_create` where the name is taken. */
export async function create(
  cli: Cli,
  name: string,
  file: string | undefined,
  { force, ...options }: CreateOptions,
): Promise<void> {
  const before = await findTemplate(cli, name)
  if (before !== undefined && !force)
    throw new AppError('cannot_create', `Template "${name}" already exists`, { details: ['Add --force to replace it'] })
  const hasOptions = Object.keys(given(options)).length > 0
  if (file !== undefined && hasOptions)
    throw new AppError(
      'usage',
      `Give the template as ${file === '-' ? 'standard input' : file} or by options, not both`,
    )
  if (file === undefined && !hasOptions)
    throw new AppError('usage', 'Give the template a --prompt or a --system text, or name a file, or - for stdin')
  const source = file === undefined ? await written(cli, options) : await read(cli, file)
  const template = parseTemplate(source, file === undefined || file === '-' ? `template "${name}"` : file)
  const path = await writeTemplate(cli, name, source, before)
  await removeDraft(cli, name)
  await print(cli, { name, path, variables: variablesOf(template) }, () => path)
}

async function read(cli: Cli, file: string): Promise<string> {
  return (await readInput(cli, file, longestTemplate)).toString('utf8')
}

/** The YAML of options. */
async function written(cli: Cli, options: Omit<CreateOptions, 'force'>): Promise<string> {
  const { description, system, prompt, model, option, schema, file, default: defaults } = options
  // A list of fields stays as it was written; JSON and files become part of the template.
  const form = schema === undefined ? undefined : await readSchema(cli, schema)
  const { stringify } = await import('yaml')
  const template = given({
    description,
    model,
    system,
    prompt,
    options: option,
    schema: form?.isShort ? schema : form?.schema,
    files: file,
    defaults,
  })
  return stringify(template, { lineWidth: 0, blockQuote: 'literal' })
}

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
    table(
      cli,
      rows,
      [
        ['NAME', (row) => row.name],
        ['VARIABLES', (row) => row.variables.map((variable) => `$${variable}`).join(' ')],
        ['MODEL', (row) => row.model ?? ''],
        ['DESCRIPTION', (row) => row.problem ?? row.description],
      ],
      'there are no templates yet: aichat template create NAME --prompt TEXT',
    ),
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

export async function show(cli: Cli, name: string): Promise<void> {
  if (!cli.globals().json) {
    // Also one that is broken.
    const source = await read(cli, await templateFile(cli, name))
    return print(cli, source, () => source)
  }
  const { path, template } = await readTemplate(cli, name)
  await print(cli, { name, path, variables: variablesOf(template), template }, () => '')
}

/** Edits a template; a text that is none is kept, and opened by the next edit. */
export async function edit(cli: Cli, name: string): Promise<void> {
  const path = await templateFile(cli, name)
  const before = await read(cli, path)
  const draft = await readDraft(cli, name)
  if (draft !== undefined) note(cli, 'aichat: this is the text of the last edit, which was refused')
  const after = await editText(
    cli,
    (draft ?? before).trimEnd(),
    `a file: aichat template create ${name} FILE --force`,
    {
      file: path.endsWith('.json') ? 'template.json' : 'template.yaml',
    },
  )
  if (after.trimEnd() === before.trimEnd()) {
    await removeDraft(cli, name)
    throw new AppError('found', 'Nothing was changed')
  }
  try {
    const template = parseTemplate(after, `template "${name}"`)
    await print(
      cli,
      { name, path: await writeTemplate(cli, name, after, path), variables: variablesOf(template) },
      () => '',
    )
    await removeDraft(cli, name)
  } catch (reason) {
    const kept = await keepDraft(cli, name, after)
    if (!(reason instanceof AppError)) throw reason
    throw new AppError(reason.code, `${reason.message}; it is unchanged`, {
      details: [...reason.details, `Your text is kept in ${kept}; edit it again: aichat template edit ${name}`],
      cause: reason,
    })
  }
}

export async function remove(cli: Cli, names: readonly string[]): Promise<void> {
  const found: { readonly id: string; readonly path: string }[] = []
  for (const id of new Set(names)) found.push({ id, path: await templateFile(cli, id) })
  await confirm(cli, `Remove ${found.map(({ id }) => id).join(', ')}?`)
  for (const { id, path } of found) {
    removeTemplate(path)
    await removeDraft(cli, id)
  }
  await printRemoved(cli, 'templates', found)
}

export async function path(cli: Cli, name: string | undefined): Promise<void> {
  if (name !== undefined) checkName(name)
  const place = name === undefined ? await templatesFolder(cli) : await templateFile(cli, name)
  await print(cli, { path: place }, () => place)
}
