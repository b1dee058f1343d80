/** The loop of Kyutai TTS: words go in when the model asks for them, and frames of codes come out behind them. */
import { floats, type TensorData } from '../../../src/inference/inference.ts'
import type { CodeChooser } from './choice.ts'
import type { KyutaiModel, LanguageStreams } from './model.ts'
import { createWordMachine, type Entry, type HandedWord } from './words.ts'

/** The text to speak, with its conditions. */
export interface Utterance {
  readonly entries: readonly Entry[]
  /** The vector added to every step. */
  readonly condition: Float32Array
  /** The voice's keys and values. */
  readonly memory: Readonly<Record<string, TensorData>>
}

/** Observes each step of the model; for tests. */
export interface GenerationProbe {
  /** A step of the backbone: its tokens and their rows, all that it made, and the text token that it chose and that it got. */
  backbone?(
    tokens: readonly number[],
    inputs: Readonly<Record<string, TensorData>>,
    outputs: Readonly<Record<string, TensorData>>,
    chosen: number,
    fed: number,
  ): void
  /** A codebook: the token or code that it was made from, its scores, and its code. */
  depth?(book: number, before: number, scores: Float32Array, code: number): void
  /** A frame, with the text that was read in its first step. */
  frame?(text: number, codes: Int32Array): void
}

/** Steps that are heard behind the last word. */
const finalPadding = 4

/** Longer than any chunk; the text's own end comes long before. */
const mostSteps = 30_000

/** Frames of codes from the first heard one to the end or the abort. `words` are handed over as they are read. */
export async function* generateFrames(
  model: KyutaiModel,
  { backbone, depth }: LanguageStreams,
  { entries, condition, memory }: Utterance,
  chooser: CodeChooser,
  options: {
    readonly signal?: AbortSignal | undefined
    readonly probe?: GenerationProbe
    onWords?(words: readonly HandedWord[], endStep: number | undefined): void
  } = {},
): AsyncGenerator<Int32Array, void, undefined> {
  const { signal, probe } = options
  const { configuration, tables, codebooks } = model
  const { model: file, audioDelay } = configuration
  const { dim: width, n_q: books, delays } = file
  const start = { text: file.text_card, code: file.card }
  const machine = createWordMachine(entries, {
    pad: file.existing_text_padding_id,
    card: file.text_card + 1,
    ahead: file.tts_config.second_stream_ahead,
  })
  const delayOf = (book: number) => delays[book + 1]!
  const behind = Math.max(...delays)
  /** Input and output of the latest steps. */
  const steps: { readonly text: number; readonly codes: Int32Array }[] = []
  backbone.reset()

  for (let step = 0; step < mostSteps; step++) {
    if (machine.endStep !== undefined && step >= machine.endStep + audioDelay + finalPadding) return
    signal?.throwIfAborted()
    const tokens = inputOf(step)
    const rows = rowsOf(tokens)
    const outputs = await backbone.run({ ...rows, ...memory }, 1)
    const { hidden, logits } = outputs
    const chosen = chooser.text((logits!.data as Float32Array).slice())
    const fed = machine.next(chosen)
    options.onWords?.(machine.words, machine.endStep)
    probe?.backbone?.(tokens, rows, outputs, chosen, fed)
    const codes =
      step < audioDelay ? new Int32Array(codebooks).fill(-1) : await makeCodes(hidden!.data as Float32Array, fed)
    for (let book = 0; book < codebooks; book++) if (step < delayOf(book) + audioDelay) codes[book] = -1
    steps.push({ text: fed, codes })
    if (steps.length > behind + 1) steps.shift()
    if (step < behind) continue
    const first = step - behind
    const frame = Int32Array.from({ length: codebooks }, (_, book) => steps[delayOf(book)]!.codes[book]!)
    probe?.frame?.(steps[delays[0]!]!.text, frame)
    // Frames without sound belong to the text in front.
    if (first >= audioDelay && frame.every((code) => code >= 0)) yield frame
  }

  /** The tokens of all streams: where a stream has not begun, its start; codebooks that are not made have nothing. */
  function inputOf(step: number): number[] {
    const last = steps.at(-1)
    const code = (book: number) => (step <= delayOf(book) ? start.code : (last?.codes[book] ?? -1))
    return [step <= delays[0]! ? start.text : last!.text, ...Array.from({ length: books }, (_, book) => code(book))]
  }

  function rowsOf([text = -1, ...codes]: readonly number[]): Record<string, TensorData> {
    const audio = condition.slice()
    for (const [book, code] of codes.entries()) {
      const row = tables.code(book, code)
      if (row) for (let i = 0; i < width; i++) audio[i]! += row[i]!
    }
    const { main, second } = tables.text(text)
    const tensor = (data: Float32Array = new Float32Array(width)) => floats([1, width], data)
    return { audio: tensor(audio), main: tensor(main), second: tensor(second) }
  }

  async function makeCodes(hidden: Float32Array, text: number): Promise<Int32Array> {
    const codes = new Int32Array(codebooks)
    depth.reset()
    for (let book = 0; book < codebooks; book++) {
      signal?.throwIfAborted()
      const before = book === 0 ? text : codes[book - 1]!
      const { embedded, spread } = book === 0 ? tables.depthText(text) : tables.depthCode(book - 1, before)
      const scores = (await depth.scores(book, hidden, embedded, spread)).slice()
      codes[book] = chooser.code(scores)
      probe?.depth?.(book, before, scores, codes[book]!)
    }
    return codes
  }
}
