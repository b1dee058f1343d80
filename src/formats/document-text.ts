import { AppError } from '../errors.ts'
import { type ChildModule, childMemory, inTime, spawnChild } from '../process/process.ts'

export interface DocumentText {
  readonly text: string
  /** The title that the document gives itself; absent for none. */
  readonly title?: string
  /** The pages of a PDF. */
  readonly pages?: number
}

/** Seconds that a document may take. */
const longestSeconds = 10

/** Seconds in which the process starts: a busy machine is no fault of the document. */
const longestStart = 30

/** The most text of a document: characters, the default of `limits.chat_text`. */
export const mostText = 8 * 1024 * 1024

/** The text of a PDF. Throws `invalid` for a damaged, encrypted or textless one, `too_large` beyond the bounds. */
export function readPdf(bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<DocumentText> {
  return inChild({ beside: import.meta.url, name: './pdf-text-child' }, { bytes, name }, signal)
}

/** The main text of a page of HTML, without its navigation. Throws as `readPdf`. */
export function readPage(html: string, name: string, signal?: AbortSignal): Promise<DocumentText> {
  return inChild({ beside: import.meta.url, name: './page-text-child' }, { html, name }, signal)
}

/** The methods of the child processes: `start` loads the reader, `read` is called once. */
export interface DocumentMethods<Task> {
  readonly start: { readonly input: null; readonly result: null }
  readonly read: { readonly input: Task; readonly result: DocumentText }
}

/** The tasks of the child processes; the name is for errors. */
export interface PdfTask {
  readonly bytes: Uint8Array
  readonly name: string
}

export interface PageTask {
  readonly html: string
  readonly name: string
}

/** Hostile documents make their readers compute for hours, so these run in a process that can be killed. */
async function inChild(module: ChildModule, task: PdfTask | PageTask, signal?: AbortSignal): Promise<DocumentText> {
  const { name } = task
  const refused = (what: string, cause?: unknown) =>
    new AppError('too_large', `${name} ${what}`, { details: ['Give a part of it, or its text'], cause })
  const child = spawnChild<DocumentMethods<PdfTask | PageTask>>({
    module,
    graceMs: 0,
    lost: () => refused(`is damaged, or needs more than ${childMemory / 2 ** 20} MiB of memory to be read`),
  })
  const late = (seconds: number) => (cause: unknown) => refused(`takes more than ${seconds} seconds to read`, cause)
  try {
    const start = { seconds: longestStart, signal, late: late(longestStart) }
    await inTime(start, (both) => child.request('start', null, both))
    const bound = { seconds: longestSeconds, signal, late: late(longestSeconds) }
    return await inTime(bound, (both) => child.request('read', task, both))
  } finally {
    child.kill()
  }
}
