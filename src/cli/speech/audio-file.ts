import { extname } from 'node:path'
import { audioFormat, type FormatName, formatOfEnding, tagsOf } from '../../../speech/speech.ts'

/** A file of speech: its format, and what its tags say. */
export interface AudioFile {
  readonly format: FormatName
  readonly text: string
  readonly voice: unknown
  readonly engine?: string | undefined
}

/** The format of an output: samples alone with `--raw`, else by the ending of its name, and WAV for other endings. */
export function fileFormat({ output = '', raw }: { readonly output?: string; readonly raw?: boolean }): FormatName {
  return raw ? 'pcm' : (formatOfEnding(extname(output)) ?? 'wav')
}

/** The bytes of the file. */
export async function* encodeAudio(
  samples: Iterable<Buffer> | AsyncIterable<Buffer>,
  { format, text, voice, engine = 'aichat' }: AudioFile,
  size: { readonly sampleRate: number; readonly dataBytes: number },
): AsyncGenerator<Buffer> {
  async function* pieces(): AsyncGenerator<Buffer> {
    yield* samples
  }
  const encode = await audioFormat(format).load()
  yield* encode(pieces(), { ...size, tags: tagsOf(text, voice, engine) })
}
