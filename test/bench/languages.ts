import { detectLanguage } from '../../speech/text/languages.ts'
import { hardEnglish } from '../speech/text/language-samples/english.ts'
import { fitted } from '../speech/text/language-samples/fitted.ts'
import { heldOut } from '../speech/text/language-samples/held-out.ts'
import { short } from '../speech/text/language-samples/short.ts'
import { print } from './parts/figures.ts'

type Detect = (text: string) => string | Promise<string>
type Samples = Readonly<Record<string, readonly string[]>>

interface Candidate {
  readonly name: string
  /** The package for `npm install --no-save`; undefined where aichat depends on it. */
  readonly package?: string
  open(): Promise<Detect>
}

/**
 * The detector of the speech servers beside packages of npm, in percent of the texts with the right language: 200
 * sentences of 20 languages on which ours was fitted, 200 others, texts of one to three words, English full of foreign
 * names. The column `English` counts the held-out sentences for which the question "is it English?" is answered rightly,
 * which decides whether flite speaks. Others than `eld` are measured where they are installed by hand.
 *
 * As measured on two cores of a Xeon server, Node 20.20 (fitted, held out, short, hard English; load in ms):
 *
 *   ours (eld/small)    99.5  100.0  89  100   300    Apache-2.0; in the bundle 25 ms, 1.9 MB
 *   eld/small alone     97.0   96.5  73   68   300    Apache-2.0, 8.8 MB installed, no install script
 *   eld/extrasmall      95.5   92.0  65   72   200    the same
 *   fasttext.wasm.js    95.5   96.5  84   82   160    best alone; its model lid.176 is CC-BY-SA-3.0
 *   tinyld/heavy        93.0   89.5  68   54   400    MIT, 12 MB
 *   tinyld              92.5   91.0  67   54   200    MIT, 12 MB
 *   cld3-asm            89.5   85.0  42   28    95    MIT, 6.6 MB, untouched since 2021
 *   lande               83.5   85.5  48   42    85    MIT, 0.8 MB
 *   franc               60.5   52.5  20   18    40    MIT, 0.3 MB; franc-all does worse
 *   our former word lists 45.0 44.0  44   94     0
 */
export async function bench(): Promise<void> {
  print(`${'detector'.padEnd(22)}  fitted  held out  English  short  hard English   µs/text  load ms`)
  for (const candidate of candidates) {
    const started = performance.now()
    const detect = await candidate.open().catch(() => undefined)
    if (!detect) {
      print(`${candidate.name.padEnd(22)}  not installed: npm install --no-save --ignore-scripts ${candidate.package}`)
      continue
    }
    await detect('Ein Satz, der alles lädt.')
    const load = performance.now() - started
    const begun = performance.now()
    const held = await score(detect, heldOut)
    const perText = ((performance.now() - begun) * 1000) / held.total
    const [trained, few, hard] = [
      await score(detect, fitted),
      await score(detect, short),
      await score(detect, { English: hardEnglish }),
    ]
    const columns = [percent(trained.right, trained.total, 8), percent(held.right, held.total, 10)]
    columns.push(percent(held.decided, held.total, 9), percent(few.right, few.total, 7))
    columns.push(percent(hard.right, hard.total, 14), perText.toFixed(0).padStart(10), load.toFixed(0).padStart(9))
    print(`${candidate.name.padEnd(22)}${columns.join('')}`)
    if (candidate === candidates[0]) for (const line of perLanguage(held)) print(line)
  }
}

const candidates: readonly Candidate[] = [
  { name: 'aichat', open: async () => detectLanguage },
  ...(['small', 'extrasmall', 'medium'] as const).map((size) => ({
    name: `eld/${size}`,
    async open() {
      const { eld } = (await import(`eld/${size}`)) as typeof import('eld/small')
      return (text: string) => nameOf(eld.detect(text).language)
    },
  })),
  {
    name: 'tinyld',
    package: 'tinyld@1.3.4',
    async open() {
      const { detect } = await load<{ detect(text: string): string }>('tinyld')
      return (text) => nameOf(detect(text))
    },
  },
  {
    name: 'franc',
    package: 'franc@6.2.0',
    async open() {
      const { franc } = await load<{ franc(text: string, options: object): string }>('franc')
      return (text) => nameOf(franc(text, { minLength: 1 }))
    },
  },
  {
    name: 'lande',
    package: 'lande@1.0.10',
    async open() {
      const { default: lande } = await load<{ default(text: string): [string, number][] }>('lande')
      return (text) => nameOf(lande(text)[0]?.[0] ?? '')
    },
  },
  {
    name: 'cld3-asm',
    package: 'cld3-asm@4.0.0',
    async open() {
      type Cld = {
        loadModule(): Promise<{ create(a: number, b: number): { findLanguage(t: string): { language: string } } }>
      }
      const factory = await (await load<Cld>('cld3-asm')).loadModule()
      const identifier = factory.create(0, 1000)
      return (text) => nameOf(identifier.findLanguage(text).language)
    },
  },
  {
    name: 'fasttext.wasm.js',
    package: 'fasttext.wasm.js@1.0.0',
    async open() {
      type Model = {
        load(): Promise<unknown>
        identify(text: string): Promise<{ alpha2: string | null; alpha3: string }>
      }
      const model = await (await load<{ getLIDModel(): Promise<Model> }>('fasttext.wasm.js')).getLIDModel()
      await model.load()
      return async (text) => {
        const { alpha2, alpha3 } = await model.identify(text)
        return nameOf(alpha2 ?? alpha3)
      }
    },
  },
]

/** A package that is no dependency: its name is not written where the compiler would look for it. */
async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T
}

interface Score {
  readonly right: number
  readonly total: number
  /** For how many it is told rightly whether they are English. */
  readonly decided: number
  readonly byLanguage: ReadonlyMap<string, readonly string[]>
}

async function score(detect: Detect, samples: Samples): Promise<Score> {
  let [right, total, decided] = [0, 0, 0]
  const byLanguage = new Map<string, string[]>()
  for (const [language, texts] of Object.entries(samples)) {
    const told = await Promise.all(texts.map((text) => detect(text)))
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

const displayNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** The English name of a language's code of two or three letters. */
function nameOf(code: string): string {
  if (code === 'ms' || code === 'msa' || code === 'zsm') return 'Indonesian'
  if (code === 'cmn') return 'Chinese'
  if (!/^[a-z]{2,3}(?:-|$)/i.test(code)) return 'none'
  return displayNames.of(code.split('-')[0]!) ?? code
}

function percent(part: number, whole: number, width: number): string {
  return ((100 * part) / whole).toFixed(1).padStart(width)
}
