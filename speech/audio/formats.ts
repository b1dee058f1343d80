import type { Encode, Recording } from './encoding.ts'
import { tagsOf } from './tags.ts'
import { wavHeader } from './wav.ts'

interface AudioFormat {
  readonly type: string
  /** The endings of its files, without the dot. */
  readonly endings: readonly string[]
  /** Loads the encoder. Throws `unavailable` where its package is missing. */
  load(): Promise<Encode>
}

const formats = {
  wav: { type: 'audio/wav', endings: ['wav', 'wave'], load: async () => encodeWav },
  pcm: { type: 'audio/pcm', endings: ['pcm', 'raw'], load: async () => (samples) => passOn(samples) },
  mp3: { type: 'audio/mpeg', endings: ['mp3'], load: async () => (await import('./mp3.ts')).loadMp3() },
  opus: {
    type: 'audio/ogg',
    endings: ['opus', 'ogg', 'oga'],
    load: async () => (await import('./opus.ts')).loadOpus(),
  },
  flac: { type: 'audio/flac', endings: ['flac'], load: async () => (await import('./flac.ts')).encodeFlac },
} as const satisfies Record<string, AudioFormat>

/** A format of the answers; the names are OpenAI's. WAV where nothing else is asked for. */
export type FormatName = keyof typeof formats

export const formatNames = Object.keys(formats) as [FormatName, ...FormatName[]]

export function audioFormat(name: FormatName): AudioFormat {
  return formats[name]
}

/** The format of a file with this ending; undefined for one that is not made here. */
export function formatOfEnding(ending: string): FormatName | undefined {
  const wanted = ending.replace(/^\./, '').toLowerCase()
  return formatNames.find((name) => (formats[name].endings as readonly string[]).includes(wanted))
}

export const mediaTypes = formatNames.map((name) => formats[name].type)

/** A file of speech: its format, and what its tags say. */
export interface SpokenFile {
  readonly format: FormatName
  readonly text: string
  /** A name; a voice that is described or recorded has none. */
  readonly voice: unknown
  readonly engine: string
}

/** The bytes of a file of all these samples. Throws `unavailable` where the encoder is missing. */
export async function* encodeFile(
  samples: Iterable<Buffer> | AsyncIterable<Buffer>,
  { format, text, voice, engine }: SpokenFile,
  size: Omit<Recording, 'tags'>,
): AsyncGenerator<Buffer> {
  async function* pieces(): AsyncGenerator<Buffer> {
    yield* samples
  }
  const encode = await formats[format].load()
  yield* encode(pieces(), { ...size, tags: tagsOf(text, voice, engine) })
}

async function* encodeWav(samples: AsyncIterable<Buffer>, { sampleRate, dataBytes }: Recording) {
  let header: Buffer | undefined = wavHeader(sampleRate, dataBytes)
  for await (const piece of samples) {
    yield header ? Buffer.concat([header, piece]) : piece
    header = undefined
  }
  if (header) yield header
}

async function* passOn(samples: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* samples
}
