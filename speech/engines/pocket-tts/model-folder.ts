/**
 * Where the files of pocket-tts lie. The models folder mirrors the hub, `owner/repository/path`:
 *
 *     kyutai/pocket-tts/languages/<model>/                         model.safetensors (gated: can clone voices)
 *     kyutai/pocket-tts-without-voice-cloning/languages/<model>/   model.safetensors, tokenizer.model, embeddings/<voice>.safetensors
 *     voxb-tts/<model>/, voxb-tts/                                 the same files, put there by hand
 *
 * A file that one edition lacks is taken from the other, as the authors' own program does.
 */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The repositories in the order in which they are preferred. */
const repositories = ['kyutai/pocket-tts', 'kyutai/pocket-tts-without-voice-cloning'] as const

export interface InstalledModel {
  /** Holds `model.safetensors`. */
  readonly folder: string
  /** English name of the language, by the folder's name. */
  readonly language: string
}

/** One model per installed language, English first. */
export function findPocketModels(modelsFolder: string): InstalledModel[] {
  const byLanguage = new Map<string, InstalledModel>()
  for (const model of installed(modelsFolder))
    if (!byLanguage.has(model.language)) byLanguage.set(model.language, model)
  return [...byLanguage.values()]
}

/** The language that an official folder's name begins with; English for any other name. */
export function languageOfName(name: string): string {
  const word = /^(dutch|english|french|german|italian|portuguese|spanish)(?:_|$)/.exec(name)?.[1] ?? 'english'
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/**
 * The folders in which the tokenizer and the voices of a model are looked for, the nearest first: next to the weights, in
 * the root of their repository (where the oldest model has them), and in the other edition.
 */
export function companionFolders(folder: string): string[] {
  const root = dirname(dirname(folder))
  const own = [folder, dirname(folder), root]
  const repository = repositories.find((name) => root.endsWith(join(...name.split('/'))))
  if (repository === undefined) return own
  const others = repositories.filter((name) => name !== repository).map((name) => join(dirname(root), basename(name)))
  return [...own, ...others.flatMap((other) => [join(other, 'languages', basename(folder)), other])]
}

/** The installed models, the preferred first: English, then the smaller and plainer names, then the edition that can clone. */
function installed(modelsFolder: string): InstalledModel[] {
  const own = join(modelsFolder, 'voxb-tts')
  const parents = [own, ...repositories.map((name) => join(modelsFolder, ...name.split('/'), 'languages'))]
  const folders = [own, ...parents.flatMap((parent) => subfolders(parent))]
  const rank = ({ language, folder }: InstalledModel) =>
    (language === 'English' ? 0 : 1000) + (folder.endsWith('_24l') ? 100 : 0) + basename(folder).length
  return folders
    .filter((folder) => existsSync(join(folder, 'model.safetensors')))
    .map((folder) => ({ folder, language: languageOfName(basename(folder)) }))
    .sort((a, b) => rank(a) - rank(b))
}

function subfolders(parent: string): string[] {
  try {
    const entries = readdirSync(parent, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(parent, entry.name))
      .sort()
  } catch {
    // The folder does not exist.
    return []
  }
}
