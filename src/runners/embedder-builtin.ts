import { statSync } from 'node:fs'
import { AppError } from '../errors.ts'
import { builtinModel, type Embedder, type EmbeddingSpace, wordsOf } from '../personas/personas.ts'
import { yieldToEventLoop } from '../process/process.ts'
import { baseForm, contentWords, partsOf, readVectors, type WordVectors } from '../word-vectors/word-vectors.ts'

/** The note next to it in every list. */
export const builtinNote =
  'Basic: static English word vectors trained from WordNet, without grammar or names; other languages match by spelling.'

/** The note when its file is missing or damaged; memories are then found by their words alone. */
export const builtinMissing =
  'The built-in word vectors are missing or damaged: reinstall aichat, or run `npm run build`'

export interface BuiltinEmbedder extends Embedder {
  /** The words of a text that have no vector: those embedded from their parts or their spelling. */
  unknownWords(text: string): readonly string[]
  /** See `Embedders.rarity`. */
  rarity(word: string): number | undefined
}

/**
 * The embedder that needs no download: a text is the sum of its words' vectors, each weighed by how much the word tells.
 * Unknown words are guessed from their parts, else represented by their spelling, so that names, typing errors and other
 * languages still match themselves.
 * @param path the file that `src/word-vectors/train.ts` makes; read at first use
 */
export function createBuiltinEmbedder(path: string): BuiltinEmbedder {
  let loaded: WordVectors | undefined
  let failed: { readonly file: string; readonly cause: unknown } | undefined
  const load = () => {
    if (loaded) return loaded
    const file = versionOf(path)
    try {
      // A damaged file is read again only once it has been replaced, not with every search.
      if (failed?.file === file) throw failed.cause
      loaded = sharedVectors(path, file)
      return loaded
    } catch (cause) {
      failed = { file, cause }
      throw new AppError('unavailable', builtinMissing, { cause })
    }
  }
  return {
    model: builtinModel,
    trust: 0,
    languages: ['en'],
    space() {
      try {
        return spaceOf(load())
      } catch {
        // `embed` throws the reason.
        return undefined
      }
    },
    async embed(texts) {
      const vectors = load()
      const turns = createTurns()
      const made: Float32Array[] = []
      try {
        for (const text of texts) made.push(await sentence(text, vectors, turns))
      } catch (cause) {
        // Rows are read from the file when they are asked for.
        throw new AppError('unavailable', builtinMissing, { cause })
      }
      return { space: spaceOf(vectors), vectors: made }
    },
    rarity(word) {
      try {
        const vectors = load()
        const row = vectors.row(baseForm(word, (each) => vectors.row(each) !== undefined))
        // A weight is the square root of an inverse document frequency.
        return row === undefined ? undefined : vectors.weight(row) ** 2
      } catch {
        return undefined
      }
    },
    unknownWords(text) {
      const vectors = load()
      return contentWords(text, (word) => vectors.row(word) !== undefined).filter(
        (word) => vectors.row(word) === undefined,
      )
    },
  }
}

/** The vectors read last, which are never changed: embedders of one process share them, since they take 40 MB. */
let shared: { readonly path: string; readonly file: string; readonly vectors: WordVectors } | undefined

function sharedVectors(path: string, file: string): WordVectors {
  if (shared?.path !== path || shared.file !== file) shared = { path, file, vectors: readVectors(path) }
  return shared.vectors
}

function versionOf(path: string): string {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return `${size} ${mtimeMs}`
}

function spaceOf({ digest, dimension }: WordVectors): EmbeddingSpace {
  return { key: `${builtinModel}@${digest.slice(0, 16)}`, model: builtinModel, dimension }
}

/** Weights of a word guessed from its parts and of one known by its spelling only; a known word has 1. */
const guessed = 0.7
const spelled = 0.5
/** The weight in a sentence of an unknown word: that of a rare one. */
const rareWeight = 3

async function sentence(text: string, vectors: WordVectors, turns: Turns): Promise<Float32Array> {
  const sum = new Float32Array(vectors.dimension)
  const known = (word: string) => vectors.row(word) !== undefined
  const addWords = async (wordsIn: (piece: string) => readonly string[]) => {
    let added = 0
    for (const piece of piecesOf(text)) {
      const words = wordsIn(piece)
      for (const word of words) addWord(word, vectors, sum, known)
      added += words.length
      await turns.after(piece.length)
    }
    return added
  }
  const added = (await addWords((piece) => contentWords(piece, known))) || (await addWords(wordsOf))
  // A text without any word, such as a row of emoji, is near to itself at least.
  if (added === 0) addSpelling(text, sum, 1)
  return unit(sum)
}

/** Characters between two turns of the event loop: some milliseconds' work. */
const charactersPerTurn = 4_000

type Turns = ReturnType<typeof createTurns>

function createTurns() {
  let done = 0
  return {
    /** Yields to the event loop once enough characters have been embedded; to be awaited. */
    after(characters: number): Promise<void> | undefined {
      done += characters
      if (done < charactersPerTurn) return undefined
      done = 0
      return yieldToEventLoop()
    },
  }
}

/** Splits a text between words into pieces of about `charactersPerTurn`. */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const space = text.indexOf(' ', start + charactersPerTurn)
    const end = space < 0 ? text.length : space
    yield text.slice(start, end)
    start = end
  }
}

function addWord(word: string, vectors: WordVectors, sum: Float32Array, known: (word: string) => boolean): void {
  const row = vectors.row(word)
  if (row !== undefined) return vectors.addTo(sum, row, vectors.weight(row))
  const parts = /^[a-z]+$/.test(word) ? partsOf(word, known) : []
  for (const part of parts) {
    const partRow = vectors.row(part)!
    vectors.addTo(sum, partRow, (guessed * vectors.weight(partRow)) / Math.sqrt(parts.length))
  }
  if (parts.length === 0) addSpelling(word, sum, spelled * rareWeight)
}

/** Adds a unit vector of a word's character trigrams (feature hashing, Weinberger et al., 2009). */
function addSpelling(word: string, sum: Float32Array, scale: number): void {
  const characters = [...`<${word}>`]
  const runs = characters.slice(2).map((_, at) => characters.slice(at, at + 3).join(''))
  const each = scale / Math.sqrt(Math.max(1, runs.length) * perRun)
  for (const run of runs) {
    let hash = fnv1a(run)
    for (let times = 0; times < perRun; times++) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
      hash = (hash ^ (hash >>> 12)) >>> 0
      sum[hash % sum.length]! += hash & 0x10000 ? each : -each
    }
  }
}

/** Components that a trigram touches: enough that two rarely share them. */
const perRun = 8

/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return length > 0 ? vector.map((value) => value / length) : vector
}
