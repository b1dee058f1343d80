/**
 * The models that can be pulled: `known-models.json` has the repository, revision and expected hash of each file.
 *
 * A revision is a commit, so its content never changes. A SHA-256 here was published by several projects that pin the same
 * file. Without one, the hub's own digest of that commit counts at the first pull (`x-linked-etag` of a large file is its
 * SHA-256, `etag` of a small one its git blob id); the SHA-256 of the fetched file is then kept in the model's record, and
 * every later pull must find the same.
 */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

export type ModelKind = 'chat' | 'embedding' | 'tts'

export interface KnownFile {
  /** `owner/name` on the hub. */
  readonly repository: string
  /** A commit. */
  readonly revision: string
  readonly path: string
  /** Where it lies below the edition's folder. */
  readonly as: string
  readonly sha256?: string
  readonly bytes?: number
  /** Its licence, where that forbids commercial use: it is pulled only after the user agreed to that. */
  readonly nonCommercial?: string
}

/** One form in which a model can be had. Its files lie together in one folder of the models folder. */
export interface Edition {
  /** Below the models folder: the repository's own tree, so that a copy of the repository fits. */
  readonly folder: string
  readonly files: readonly KnownFile[]
  /** Gated: its owner wants a licence accepted first, and only the token of an account that did opens it. */
  readonly gated?: true
}

export interface KnownModel {
  readonly name: string
  readonly kind: ModelKind
  readonly licence: string
  readonly summary: string
  /** The first that can be had is taken; a gated one is tried only with a token. */
  readonly editions: readonly Edition[]
}

/** The chat model that is offered where there is no runner. */
export const defaultChatModel = 'smollm2-360m'

/** Files of a repository at a commit, by their places below the edition's folder, which are their paths there as well. */
interface Source extends Pick<KnownFile, 'repository' | 'revision'> {
  readonly files: Readonly<
    Record<string, Pick<KnownFile, 'bytes' | 'sha256' | 'nonCommercial'> & { readonly path?: string }>
  >
}

interface Table {
  readonly models: readonly (Omit<KnownModel, 'editions'> & {
    readonly editions: readonly { readonly folder: string; readonly sources: readonly Source[] }[]
  })[]
  /**
   * Kyutai's pocket-tts in its authors' own tree (https://huggingface.co/kyutai/pocket-tts). Two repositories share it: the gated
   * one has the weights that clone voices, the open one has these as zeros, and all the rest.
   */
  readonly pocket: {
    readonly licence: string
    readonly repositories: { readonly gated: string; readonly open: string }
    /** The commits of a generation of models: of its weights, gated and open, and of its voices. */
    readonly generations: Readonly<Record<string, Readonly<Record<'gated' | 'open' | 'voices' | 'tokenizer', string>>>>
    readonly voices: readonly string[]
    /** Those that were made from recordings for non-commercial use (the EARS and Expresso corpora). */
    readonly nonCommercialVoices: readonly string[]
    /** The models, each with the voice that speaks its language best. */
    readonly languages: readonly Readonly<Record<'name' | 'folder' | 'generation' | 'voice' | 'size', string>>[]
  }
}

const { models, pocket }: Table = JSON.parse(
  readFileSync(new URL('./src/model-hub/known-models.json', import.meta.resolve('#package')), 'utf8'),
)

/** The parts under a non-commercial licence: names without folder and ending, and the licences. */
export function nonCommercialParts({ editions }: KnownModel): {
  readonly names: string[]
  readonly licences: string[]
} {
  const files = editions.flatMap((edition) => edition.files).filter((file) => file.nonCommercial !== undefined)
  const names = new Set(files.map(({ as }) => posix.basename(as, posix.extname(as))))
  return { names: [...names].sort(), licences: [...new Set(files.map(({ nonCommercial }) => nonCommercial!))].sort() }
}

/** Every model by its name. */
export const knownModels: ReadonlyMap<string, KnownModel> = new Map(
  [
    ...models.map((model) => ({ ...model, editions: model.editions.map(listed) })),
    ...pocket.languages.map(
      (language): KnownModel => ({
        name: language.name,
        kind: 'tts',
        licence: pocket.licence,
        summary: `pocket-tts for ${spokenName(language.folder)}, about ${language.size}`,
        editions: [pocketEdition(language, true), pocketEdition(language, false)],
      }),
    ),
  ].map((model) => [model.name, model]),
)

function listed({ folder, sources }: { readonly folder: string; readonly sources: readonly Source[] }): Edition {
  return {
    folder,
    files: sources.flatMap(({ files, ...place }) =>
      Object.entries(files).map(([as, file]) => ({ ...place, path: as, as, ...file })),
    ),
  }
}

/** Such as "English of 2026-09, the large form". */
function spokenName(language: string): string {
  return language
    .replace('_24l', ', the large form')
    .replace('_20', ' of 20')
    .replace(/^./, (first) => first.toUpperCase())
}

function pocketEdition({ folder, generation, voice }: Table['pocket']['languages'][number], gated: boolean): Edition {
  const { repositories, generations, nonCommercialVoices } = pocket
  const commits = generations[generation]!
  const place = `languages/${folder}`
  const weights = gated ? 'gated' : 'open'
  const file = (repository: string, revision: string, as: string): KnownFile => ({
    ...{ repository, revision, path: `${place}/${as}`, as },
  })
  return {
    folder: `${repositories[weights]}/${place}`,
    files: [
      file(repositories[weights], commits[weights], 'model.safetensors'),
      file(repositories.open, commits.open, commits.tokenizer),
      ...[...new Set([...pocket.voices, voice])].map((name) => ({
        ...file(repositories.open, commits.voices, `embeddings/${name}.safetensors`),
        ...(nonCommercialVoices.includes(name) && { nonCommercial: 'CC-BY-NC-4.0' }),
      })),
    ],
    ...(gated && { gated }),
  }
}
