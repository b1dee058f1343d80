import type { Edit, FormatName } from './config/edits.ts'
import type { Places } from './places.ts'

/** A model that a client can name. */
export interface OfferedModel {
  readonly id: string
  readonly name: string
  /** Tokens; absent where they are unknown. */
  readonly context?: number | undefined
  readonly longestAnswer?: number | undefined
  readonly images?: boolean | undefined
  readonly tools?: boolean | undefined
  readonly thinking?: boolean | undefined
  readonly temperature?: boolean | undefined
}

/** The values that a client is pointed with. */
export interface Pointing {
  /** The address of the daemon, without a slash at its end. */
  readonly server: string
  readonly key: string
  /** The file that holds the key; only its owner can read it. */
  readonly keyFile: string
  /** The model to start with, and all that are offered, this one first. */
  readonly model: OfferedModel
  readonly models: readonly OfferedModel[]
}

/** A configuration file of a client, with the changes that point it here. */
export interface ClientFile {
  readonly path: string
  readonly format: FormatName
  readonly edits: readonly Edit[]
  /** The file holds the key: only its owner may read it. */
  readonly secret?: true
}

/** The way to start a client with settings for one run alone. */
export interface Launch {
  /** Arguments before those of the user. */
  readonly args: readonly string[]
  readonly environment: Variables
  /** Files of a folder for this run, by name. `links` names a folder with other entries that appear in it. */
  readonly folder?: { readonly files: readonly ClientFile[]; readonly links?: string }
}

/** Variables of an environment; undefined ones are removed. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A program that can be pointed at the daemon. */
export interface Client {
  readonly name: string
  readonly speaks: 'responses' | 'chat' | 'messages' | 'ollama'
  /** Programs that start it; none for a library, which is launched by the user's own command. */
  readonly programs: readonly string[]
  readonly install?: string
  /** Embeddings are asked with the same key. */
  readonly embeds?: true
  /** The environment alone points it here. */
  readonly environment?: (pointing: Pointing) => Variables
  readonly files?: (pointing: Pointing, places: Places) => readonly ClientFile[]
  /** Undefined where a run of its own cannot have settings of its own. `folder` is that of `Launch`. */
  readonly launch?: (pointing: Pointing, places: Places, folder: string) => Launch
  /** The reason not to write the files as things are on this machine. */
  readonly conflict?: (places: Places) => string | undefined
  /** The steps left to the user once the files are written. */
  readonly advice?: (pointing: Pointing) => string
}

/** The variable with the key, for clients that read one of their own choice. */
export const keyVariable = 'AICHAT_API_KEY'
