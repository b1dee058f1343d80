import { AppError } from '../errors.ts'
import type { ChildModule } from '../process/child.ts'
import { runOnce } from '../process/run-in-child.ts'

/** The text of a document of another format. */
export interface DocumentText {
  readonly text: string
  /** The title that the document gives itself; absent for none. */
  readonly title?: string
  /** The pages of a PDF. */
  readonly pages?: number
}

/** Seconds that a document may take: one of 2,000 pages takes ten. */
const longestSeconds = 30

/** Bytes of memory of the process that reads a document. */
export const mostMemory = 1024 * 1024 * 1024

/** The most text of a document: characters, the default of `limits.chat_text`. */
export const mostText = 8 * 1024 * 1024

/**
 * The text of a PDF. `name` is for errors. Throws `invalid` for a document that is damaged, encrypted or without text, and
 * `too_large` for one that takes too much time or memory.
 */
export function readPdf(bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<DocumentText> {
  return inChild({ beside: import.meta.url, name: './pdf-text-child' }, { bytes, name }, signal)
}

/** The main text of a page of HTML, without its navigation. Throws as `readPdf`. */
export function readPage(html: string, name: string, signal?: AbortSignal): Promise<DocumentText> {
  return inChild({ beside: import.meta.url, name: './page-text-child' }, { html, name }, signal)
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
  const deadline = AbortSignal.timeout(longestSeconds * 1000)
  const lost = () =>
    new AppError(
      'too_large',
      `${name} cannot be read: it is damaged, or needs more than ${mostMemory / 2 ** 30} GiB of memory`,
    )
  try {
    return (await runOnce(
      { module, lost },
      task,
      signal ? AbortSignal.any([signal, deadline]) : deadline,
    )) as DocumentText
  } catch (reason) {
    if (!deadline.aborted || signal?.aborted) throw reason
    throw new AppError('too_large', `${name} takes more than ${longestSeconds} seconds to read`, { cause: reason })
  }
}
