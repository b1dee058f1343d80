// Some with --all only: a whole sample.
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import * as assert from 'uvu/assert'
import { product, textOf } from './helpers/source-tree.ts'
import { suite } from './helpers/suite.ts'
import { growthOf, superlinear } from './pattern-cost.ts'

/** A regular expression of the product. */
type Found = { readonly file: string; readonly line: number; readonly source: string; readonly flags: string }

/** Patterns whose work grows faster than their text, which is short. By file and pattern, each with the bound or the owner of the text. */
const allowed: Readonly<Record<string, string>> = {
  [String.raw`speech/text/sentences.ts [^\s"'’“„‘«([]*$`]: 'reads the 24 characters before a mark',
  [String.raw`speech/text/sentences.ts (\p{L}+) $`]: 'reads the 24 characters before a mark',
  [String.raw`src/cli/chat/conversation/shell-words.ts (?:[^\s\\]|\\[\s\S]|\\$)*$`]:
    'reads a line that the user has typed, when Tab is pressed',
  [String.raw`src/cli/terminal/failure.ts ^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$`]:
    "reads the user's own command line, of which Linux takes 128 KiB an argument",
  [String.raw`src/cli/terminal/failure.ts ^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$`]:
    "reads the user's own command line, of which Linux takes 128 KiB an argument",
  [String.raw`src/plugins/manifest-checks.ts \[[^\]]*\]`]: 'reads a pattern of a plugin, of 300 characters at most',
}

/** Files whose patterns read short texts alone. */
const bounded: Readonly<Record<string, string>> = {
  'src/personas/profile/rules.ts': 'reads sentences of 300 characters at most',
  'src/personas/profile/sentences.ts': 'reads sentences of 300 characters at most; files are cut out without a pattern',
}

const test = suite('regular expressions')

test.whole('the work of each regular expression grows no faster than its text', async () => {
  const found = [...product.flatMap(literalsOf), ...(await constructed())]
  assert.ok(found.length > 1000, 'the sources have been read')
  const growths = new Map<string, ReturnType<typeof growthOf>>()
  const faults: string[] = []
  const used = new Set<string>()
  for (const { file, line, source, flags } of found) {
    if (Object.hasOwn(bounded, file)) continue
    const key = `${flags} ${source}`
    if (!growths.has(key)) growths.set(key, growthOf(source, flags))
    const growth = growths.get(key)
    if (!growth || growth.factor < superlinear) continue
    const name = `${file} ${source}`
    if (Object.hasOwn(allowed, name)) used.add(name)
    else {
      const [before, repeated, behind] = [growth.before, growth.repeated, growth.behind].map((each) =>
        JSON.stringify(each),
      )
      faults.push(
        `${file}:${line} ${shown(source)} takes ${growth.factor.toFixed(1)} times as long for a text three times as long: ${before} + ${repeated}.repeat(n) + ${behind}`,
      )
    }
  }
  assert.equal(faults, [])
  assert.equal([...used].sort(), Object.keys(allowed).sort(), 'each exception is needed')
})

test('a pattern whose work grows with the square of its text is found, and its like that does not is not', () => {
  const factor = ({ source, flags }: RegExp) => growthOf(source, flags)?.factor ?? 0
  for (const slow of [/\s+$/, /^\s*(?:a\s*)?\s*$/, /\bp:\S*\d/, /(?:a+)+$/, /\b[a-z][a-z.]*:\/\//i, / *x/, /(?<=: *)x/])
    assert.ok(factor(slow) > superlinear, String(slow))
  for (const fast of [/(?<!\s)\s+$/, /^\s*a\s*$/, /\bp:\S{0,100}\d/, /^(?:ab?)+$/, /"[^"]*"/, /(["'])x+\1/, /(?<=:)x/])
    assert.ok(factor(fast) < superlinear, String(fast))
})

/** The literals of a source. */
function literalsOf(file: string): readonly Found[] {
  const text = textOf(file)
  const found: Found[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, regex, start } = node as { type?: string; regex?: { pattern: string; flags: string }; start?: number }
    if (type === 'Literal' && regex)
      found.push({ file, line: lineAt(text, start!), source: regex.pattern, flags: regex.flags })
    else for (const each of Object.values(node)) visit(each)
  }
  if (/\//.test(text)) visit(parseSync(file, text).program)
  return found
}

/** The patterns that modules make with `new RegExp` while they are loaded. The console makes none. */
async function constructed(): Promise<readonly Found[]> {
  const found: Found[] = []
  const makers = product.filter((file) => textOf(file).includes('new RegExp('))
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, given: ConstructorParameters<typeof RegExp>) {
      const made = new target(...given)
      const stack = new Error().stack ?? ''
      const file = makers.find((each) => stack.includes(`/${each.replace(/ts$/, 'js')}:`))
      if (file) {
        const line = lineAt(textOf(file), textOf(file).indexOf('new RegExp('))
        found.push({ file, line, source: made.source, flags: made.flags })
      }
      return made
    },
  })
  try {
    for (const file of makers) await import(fileURLToPath(new URL(`../${file.replace(/ts$/, 'js')}`, import.meta.url)))
  } finally {
    globalThis.RegExp = original
  }
  return found
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function shown(source: string): string {
  return source.length > 100 ? `${source.slice(0, 100)}…` : source
}

test.run()
