import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { AppError } from '../errors.ts'
import { boundMemory, serveParent } from '../process/process.ts'
import type { DocumentMethods, DocumentText, PageTask } from './document-text.ts'
import { type PageNode, plainText } from './page-layout.ts'

/** The most elements of a page: the largest articles have some ten thousand. */
const mostElements = 300_000

// Runs in a process of its own: see document-text.ts.
serveParent<DocumentMethods<PageTask>>({
  start() {
    boundMemory()
    return null
  },
  read: textOfPage,
})

function textOfPage({ html, name }: PageTask): DocumentText {
  try {
    const { document } = parseHTML(wholePage(html))
    // The whole page, where no main part is found: Readability changes the document, so this comes first.
    const whole = plainText(document.documentElement as unknown as PageNode)
    const named = document.title
    const article = new Readability(document, {
      maxElemsToParse: mostElements,
      serializer: (node) => plainText(node as unknown as PageNode),
    }).parse()
    const text = article?.content || whole
    const title = (article?.title || named || '').replace(/\s+/g, ' ').trim().slice(0, 300)
    if (text === '') throw new AppError('invalid', `${name} holds no text: a program on the page may write it`)
    return { text, ...(title !== '' && { title }) }
  } catch (reason) {
    if (reason instanceof AppError) throw reason
    throw new AppError('invalid', `${name} is a page that nests too deep or has too many elements`, { cause: reason })
  }
}

/** HTML may leave out its outermost elements, which the parser does not put back. */
function wholePage(html: string): string {
  if (/<html[\s>]/i.test(html)) return html
  return `<html><head></head><body>${html.replace(/^\s*<!doctype[^>]*>/i, '')}</body></html>`
}
