// Digests of the sources behind a built file. Node built-ins only at the start, since it is loaded before the installation.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'

/** A source with its direct and indirect imports and the lists of words that these read, as sorted paths below `root`. */
export function sourcesBehind(root, source) {
  const found = new Set()
  const follow = (file) => {
    if (found.has(file)) return
    found.add(file)
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, name] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g))
      follow(normalize(join(dirname(file), name)))
    for (const [, name] of text.matchAll(/\breadWords<[\s\S]*?>\('([\w-]+)'\)/g))
      found.add(`src/personas/words/${name}.json`)
  }
  follow(normalize(source))
  return [...found].sort()
}

/** A digest over the programs in all of them: without comments, types and formatting, which change nothing that is built. */
export function recipeOf(root, source) {
  const hash = createHash('sha256')
  const { transformSync } = compiler()
  for (const file of sourcesBehind(root, source)) {
    const options = { loader: 'ts', minifyWhitespace: true, legalComments: 'none', target: 'esnext', tsconfigRaw: '{}' }
    const text = readFileSync(join(root, file), 'utf8')
    hash.update(`${file}\n`).update(file.endsWith('.json') ? text : transformSync(text, options).code)
  }
  return hash
}

/** esbuild, which tsx depends on: it prints a program from its syntax tree, and TypeScript 7 has no such interface. */
function compiler() {
  const tsx = createRequire(import.meta.url).resolve('tsx/package.json')
  return createRequire(tsx)('esbuild')
}
