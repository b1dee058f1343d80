import { detectLanguage } from '../../speech/text/languages.ts'
import { hardEnglish, heldOut, short } from '../helpers/speech/language-samples.ts'
import { print } from './parts/figures.ts'

type Samples = Readonly<Record<string, readonly string[]>>

/**
 * The detector of the speech servers, in percent of the texts with the right language: 200 sentences of 20 languages on which
 * it was not fitted, texts of one to three words, English full of foreign names. The column `English` counts the held-out
 * sentences for which the question "is it English?" is answered rightly, which decides whether flite speaks.
 *
 * It was chosen among others (percent fitted, held out, short, hard English; two cores of a Xeon server, Node 20.20): with our
 * rules eld/small has 99.5, 100, 89 and 100, alone 97, 96.5, 73 and 68; fasttext.wasm.js, whose model is CC-BY-SA, 95.5, 96.5,
 * 84 and 82; tinyld/heavy 93, 89.5, 68 and 54; cld3-asm 89.5, 85, 42 and 28; lande 83.5, 85.5, 48 and 42; franc 60.5, 52.5, 20
 * and 18.
 */
export async function bench(): Promise<void> {
  await detectLanguage('Ein Satz, der alles lädt.')
  const begun = performance.now()
  const held = await score(heldOut)
  const perText = ((performance.now() - begun) * 1000) / held.total
  const [few, hard] = [await score(short), await score({ English: hardEnglish })]
  print('held out  English  short  hard English   µs/text')
  const columns = [percent(held.right, held.total, 8), percent(held.decided, held.total, 9)]
  columns.push(percent(few.right, few.total, 7))
  columns.push(percent(hard.right, hard.total, 14), perText.toFixed(0).padStart(10))
  print(columns.join(''))
  for (const line of perLanguage(held)) print(line)
}

interface Score {
  readonly right: number
  readonly total: number
  /** For how many it is told rightly whether they are English. */
  readonly decided: number
  readonly byLanguage: ReadonlyMap<string, readonly string[]>
}

async function score(samples: Samples): Promise<Score> {
  let [right, total, decided] = [0, 0, 0]
  const byLanguage = new Map<string, string[]>()
  for (const [language, texts] of Object.entries(samples)) {
    const told = await Promise.all(texts.map((text) => detectLanguage(text)))
    byLanguage.set(language, told)
    total += told.length
    right += told.filter((name) => name === language).length
    decided += told.filter((name) => (name === 'English') === (language === 'English')).length
  }
  return { right, total, decided, byLanguage }
}

function perLanguage({ byLanguage }: Score): readonly string[] {
  return [...byLanguage].map(([language, told]) => {
    const wrong = told.filter((name) => name !== language)
    return `  ${language.padEnd(20)}${percent(told.length - wrong.length, told.length, 18)}  ${wrong.join(', ')}`
  })
}

function percent(part: number, whole: number, width: number): string {
  return ((100 * part) / whole).toFixed(1).padStart(width)
}
