import type { ChatChunk } from '../../protocol/messages.ts'
import type { TextFrame } from '../../protocol/text-frame.ts'

/** A chunk with one choice, and its text cut around one string in it. */
export interface ChunkFrame extends TextFrame {
  readonly chunk: ChatChunk
  readonly choice: ChatChunk['choices'][number]
}

/** The chunks that mostly follow the first one of a stream: its text with another delta, and at the end another finish. */
export interface ChunkFrames {
  /** A piece of text; the string is the content. */
  readonly text: ChunkFrame
  /** The end, without a piece; the string is the finish reason. */
  readonly finish: ChunkFrame
}

/** A delta without objects and lists in it. */
const flatDelta = /"delta":\{[^{}"]*(?:"[^"]*"[^{}"]*)*\}/

const unfinished = '"finish_reason":null'

/**
 * The frames that follow from a stream's first chunk, which was parsed: most streams need no other chunk parsed than it and
 * the one with the token counts. Undefined where its text leaves open which of its parts are the delta and the finish: where
 * it has escapes, either name twice, or white space around them.
 */
export function chunkFrames(chunk: ChatChunk, data: string): ChunkFrames | undefined {
  const [begun] = chunk.choices
  const delta = flatDelta.exec(data)?.[0]
  if (!begun || begun.finish_reason !== null || delta === undefined || data.includes('\\')) return undefined
  const at = onlyPlaceOf('"delta"', data)
  if (at === undefined || onlyPlaceOf('"finish_reason"', data) === undefined) return undefined
  const head = data.slice(0, at + '"delta":'.length)
  const tail = data.slice(at + delta.length)
  const end = tail.indexOf(unfinished)
  if (end === -1) return undefined
  const choice = { ...begun, delta: {} }
  const beforeFinish = `${head}{}${tail.slice(0, end)}"finish_reason":"`
  return {
    text: { chunk, choice, before: `${head}{"content":"`, content: '', after: `"}${tail}` },
    finish: {
      chunk,
      choice,
      before: beforeFinish,
      content: '',
      after: `"${tail.slice(end + unfinished.length)}`,
    },
  }
}

/** Where a name stands that is in the text once; undefined where it is not there, or twice. */
function onlyPlaceOf(name: string, text: string): number | undefined {
  const at = text.indexOf(name)
  return at !== -1 && text.indexOf(name, at + 1) === -1 ? at : undefined
}
