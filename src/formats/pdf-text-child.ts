import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'
import { boundMemory, serveParent } from '../process/process.ts'
import { type DocumentMethods, type DocumentText, mostText, type PdfTask } from './document-text.ts'

// Runs in a process of its own: see document-text.ts.
serveParent<DocumentMethods<PdfTask>>({
  async start() {
    await loadReader()
    boundMemory()
    return null
  },
  read: textOfPdf,
})

async function textOfPdf({ bytes, name }: PdfTask): Promise<DocumentText> {
  const { getDocument } = await loadReader()
  const reading = getDocument({
    data: new Uint8Array(bytes),
    verbosity: 0,
    // Text alone is read: no fonts are made, no pictures unpacked, no programs run.
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    isEvalSupported: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // The tables of Chinese, Japanese and Korean encodings.
    cMapUrl: fileURLToPath(new URL('.', import.meta.resolve('#cmaps/LICENSE'))),
    cMapPacked: true,
  })
  try {
    const document = await reading.promise
    const title = await titleOf(document)
    return { text: await textOf(document, name), pages: document.numPages, ...(title !== undefined && { title }) }
  } catch (reason) {
    throw reason instanceof AppError ? reason : explained(reason, name)
  } finally {
    await reading.destroy()
  }
}

/** Loads PDF.js without drawing: stands in for three classes of a canvas, and gives its worker by a global. */
async function loadReader() {
  class Undrawn {}
  Object.assign(globalThis, {
    DOMMatrix: Undrawn,
    ImageData: Undrawn,
    Path2D: Undrawn,
    // @ts-expect-error The worker comes without types.
    pdfjsWorker: await import('pdfjs-dist/legacy/build/pdf.worker.min.mjs'),
  })
  return import('pdfjs-dist/legacy/build/pdf.mjs')
}

type Document = Awaited<ReturnType<Awaited<ReturnType<typeof loadReader>>['getDocument']>['promise']>

/** The text of all pages, each behind its number. */
async function textOf(document: Document, name: string): Promise<string> {
  const pages: string[] = []
  let length = 0
  let written = 0
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
    page.cleanup()
    length += text.length
    written += text.trim().length
    if (length > mostText) throw new AppError('too_large', `${name} holds more than ${mostText} characters of text`)
    pages.push(`[page ${number}]\n${text.replaceAll('\0', '').trim()}`)
  }
  if (written === 0) throw new AppError('invalid', `${name} holds no text: its pages are pictures`)
  return pages.join('\n\n')
}

async function titleOf(document: Document): Promise<string | undefined> {
  const { info } = await document.getMetadata()
  const title = (info as { Title?: unknown }).Title
  return typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 300) : undefined
}

function explained(reason: unknown, name: string): AppError {
  const { name: kind } = reason as Error
  return kind === 'PasswordException'
    ? new AppError('invalid', `${name} is encrypted: save it without its password first`, { cause: reason })
    : new AppError('invalid', `${name} is damaged, or not a PDF`, { cause: reason })
}
