import { statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import { listFolder } from '../../storage/storage.ts'
import type { Cli } from '../terminal/cli.ts'
import { readInput } from '../terminal/files.ts'
import { longestTemplate, parseTemplate } from './template.ts'

/** The endings of templates; the first one that is there counts. */
const endings = ['.yaml', '.yml', '.json']

/** Bytes of a name: files have 255, with the ending and those of temporary files. */
const longestName = 120

/** The folder of the templates: a file each, so that they can be copied, kept in a repository, and shared. */
export async function templatesFolder(cli: Pick<Cli, 'settings'>): Promise<string> {
  return join((await cli.settings()).paths.config, 'templates')
}

/** Throws `invalid` for a name that is no safe name of a file on every system. */
export function checkName(name: string): void {
  const isSafe = /^[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_. -]*[\p{L}\p{N}\p{M}_-])?$/u.test(name)
  const isDevice = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name)
  if (isSafe && !isDevice && Buffer.byteLength(name) <= longestName) return
  throw new AppError('invalid', `Invalid name of a template "${name.slice(0, 80)}"`, {
    details: [`Use letters, digits, _ and -, within also dots and spaces: at most ${longestName} bytes`],
  })
}

/** The names of all templates, sorted. */
export async function templateNames(cli: Pick<Cli, 'settings'>): Promise<readonly string[]> {
  const files = listFolder(await templatesFolder(cli)).filter((file) => !file.startsWith('.'))
  const names = files.flatMap((file) => {
    const ending = endings.find((each) => file.endsWith(each))
    return ending === undefined ? [] : [file.slice(0, -ending.length).normalize('NFC')]
  })
  return [...new Set(names)].sort()
}

/** The file of a template; undefined where there is none. */
export async function findTemplate(cli: Cli, name: string): Promise<string | undefined> {
  checkName(name)
  const folder = await templatesFolder(cli)
  return endings.map((ending) => join(folder, `${name.normalize('NFC')}${ending}`)).find(isFile)
}

/** The same. Throws `not_found` with the nearest name. */
export async function templateFile(cli: Cli, name: string): Promise<string> {
  const path = await findTemplate(cli, name)
  if (path !== undefined) return path
  const names = await templateNames(cli)
  throw new AppError('not_found', `Template "${name}" not found${suggestion(name, names)}`, {
    details: [names.length > 0 ? '`aichat template list` shows all' : 'There are none: see aichat help aichat-chat'],
  })
}

/** Reads a template by its name, or the path of a file where it has a slash. Throws `invalid` for one that is broken. */
export async function readTemplate(cli: Cli, name: string) {
  const isPath = /[\\/]/.test(name)
  const path = isPath ? name : await templateFile(cli, name)
  const source = (await readInput(cli, path, longestTemplate)).toString('utf8')
  return { name, path, source, template: parseTemplate(source, isPath ? name : `template "${name}"`) }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
