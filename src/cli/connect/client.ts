import type { Edit } from './config/edits.ts'
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
  readonly format: 'json' | 'toml'
  readonly edits: readonly Edit[]
}

/** Variables of an environment; undefined ones are removed. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A program that can be pointed at the daemon. */
export interface Client {
  readonly name: string
  readonly speaks: 'responses' | 'chat' | 'messages' | 'ollama'
  /** Programs that start it; none for a library. */
  readonly programs: readonly string[]
  /** Embeddings are asked with the same key. */
  readonly embeds?: true
  /** The environment alone points it here. */
  readonly environment?: (pointing: Pointing) => Variables
  readonly file?: (pointing: Pointing, places: Places) => ClientFile
}
