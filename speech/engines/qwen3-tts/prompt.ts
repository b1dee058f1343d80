/**
 * The rows that the talker reads before the first frame, and those that are added to the frames after it. Every row is the
 * sum of one of text and one of a code; which ones, the authors fixed.
 */
import { AppError } from '../../../src/errors.ts'
import type { ModelFile } from './configuration.ts'
import type { QwenModel } from './model.ts'

/** The tables that a prompt is made of: rows as wide as the talker. */
type PromptTables = Pick<QwenModel, 'model' | 'tokenizer' | 'textRows' | 'codeRow' | 'frameRow'>

export type PromptVoice =
  | { readonly kind: 'preset'; readonly name: string }
  /** Described by the instruction. */
  | { readonly kind: 'design' }
  | {
      readonly kind: 'clone'
      readonly vector: Float32Array
      /** The recording word by word, and its frames of codes. */
      readonly spoken?: { readonly transcript: string; readonly codes: readonly Int32Array[] } | undefined
    }

export interface PromptRequest {
  readonly text: string
  readonly voice: PromptVoice
  /** English name of a language; absent or `auto` leaves it to the model. */
  readonly language?: string | undefined
  readonly instruct?: string | undefined
  /** All text in front of the first frame, or a piece of it along with each. */
  readonly wholeText: boolean
}

export interface Prompt {
  readonly rows: readonly Float32Array[]
  /** Text rows added to the rows of frames, one each; `rest` is added to all behind them. */
  readonly trailing: readonly Float32Array[]
  readonly rest: Float32Array
  /** How many ids the text has. */
  readonly ids: number
}

/** Assembles a prompt. Throws an AppError for a language or preset that the model does not have. */
export async function assemblePrompt(tables: PromptTables, request: PromptRequest): Promise<Prompt> {
  const { model, tokenizer } = tables
  const { talker_config: talker } = model
  const { text, voice, wholeText } = request
  const [role, pad, begin, end] = await Promise.all([
    tables.textRows(tokenizer.encodeTemplate('<|im_start|>assistant\n')),
    textRow(model.tts_pad_token_id),
    textRow(model.tts_bos_token_id),
    textRow(model.tts_eos_token_id),
  ])
  const ids = tokenizer.encode(text.trim())
  if (ids.length === 0) throw new AppError('invalid', 'The text is empty')
  const body = await tables.textRows(ids)
  const [codePad, codeBegin] = [tables.codeRow(talker.codec_pad_id), tables.codeRow(talker.codec_bos_id)]

  const prefix = [...languageRows(), ...speakerRows(), codePad]
  const start = [
    ...(await instruction()),
    ...role,
    ...prefix.map((row, index) => sum(index === prefix.length - 1 ? begin : pad, row)),
  ]
  const spoken = voice.kind === 'clone' ? voice.spoken : undefined
  const tail = spoken ? await behindRecording(spoken) : behindText()
  return { rows: [...start, ...tail.rows], trailing: tail.trailing, rest: pad, ids: ids.length }

  async function textRow(id: number): Promise<Float32Array> {
    return (await tables.textRows([id]))[0]!
  }

  async function instruction(): Promise<readonly Float32Array[]> {
    const words = request.instruct?.trim()
    if (!words) return []
    const before = tokenizer.encodeTemplate('<|im_start|>user\n')
    const after = tokenizer.encodeTemplate('<|im_end|>\n')
    return tables.textRows([...before, ...tokenizer.encode(words), ...after])
  }

  function languageRows(): Float32Array[] {
    const id = languageId(model, request.language, voice)
    const codes =
      id === undefined
        ? [talker.codec_nothink_id, talker.codec_think_bos_id, talker.codec_think_eos_id]
        : [talker.codec_think_id, talker.codec_think_bos_id, id, talker.codec_think_eos_id]
    return codes.map(tables.codeRow)
  }

  function speakerRows(): Float32Array[] {
    if (voice.kind === 'design') return []
    return [voice.kind === 'clone' ? voice.vector : tables.codeRow(presetId(model, voice.name))]
  }

  function behindText(): Pick<Prompt, 'rows' | 'trailing'> {
    if (wholeText)
      return { rows: [...[...body, end].map((row) => sum(row, codePad)), sum(pad, codeBegin)], trailing: [] }
    return { rows: [sum(body[0]!, codeBegin)], trailing: [...body.slice(1), end] }
  }

  async function behindRecording(
    recording: NonNullable<Extract<PromptVoice, { kind: 'clone' }>['spoken']>,
  ): Promise<Pick<Prompt, 'rows' | 'trailing'>> {
    const said = await tables.textRows(tokenizer.encode(recording.transcript.trim()))
    const words = [...said, ...body, end]
    const frames = [codeBegin, ...recording.codes.map(tables.frameRow)]
    if (wholeText)
      return { rows: [...words.map((row) => sum(row, codePad)), ...frames.map((row) => sum(pad, row))], trailing: [] }
    return { rows: frames.map((row, index) => sum(words[index] ?? pad, row)), trailing: words.slice(frames.length) }
  }
}

/** The code of a preset. Throws `not_found` with the names that the model has. */
export function presetId(model: ModelFile, name: string): number {
  const id = lookUp(model.talker_config.spk_id, name)
  if (id !== undefined) return id
  throw new AppError('not_found', `Voice "${name.slice(0, 80)}" not found in the model`, {
    details: [`it has: ${Object.keys(model.talker_config.spk_id).join(', ') || 'none'}`],
  })
}

/** With Chinese, or no language, a speaker of a dialect speaks it. */
function languageId(
  { talker_config: talker }: ModelFile,
  language: string | undefined,
  voice: PromptVoice,
): number | undefined {
  const named = language?.trim().toLowerCase() || 'auto'
  const dialect = voice.kind === 'preset' ? lookUp(talker.spk_is_dialect, voice.name) : undefined
  if (dialect && (named === 'auto' || named === 'chinese')) return talker.codec_language_id[dialect]
  if (named === 'auto') return undefined
  const id = lookUp(talker.codec_language_id, named)
  if (id !== undefined) return id
  throw new AppError('unavailable', `The installed model does not speak ${language}`, {
    details: [`it speaks: ${Object.keys(talker.codec_language_id).join(', ')}`],
  })
}

function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  const wanted = name.toLowerCase()
  const key = Object.keys(table).find((known) => known.toLowerCase() === wanted)
  return key === undefined ? undefined : table[key]
}

function sum(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, index) => value + b[index]!)
}
