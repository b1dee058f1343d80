// Digests of the sources behind a built file. Node built-ins only at the start, since it is loaded before the installation.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'

/** A source and its direct and indirect imports, as sorted paths below `root`. */
export function sourcesBehind(root, source) {
  const found = new Set()
  const follow = (file) => {
    if (found.has(file)) return
    found.add(file)
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, name] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g))
      follow(normalize(join(dirname(file), name)))
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
    hash.update(`${file}\n`).update(transformSync(readFileSync(join(root, file), 'utf8'), options).code)
  }
  return hash
}

/** esbuild, which tsx depends on: it prints a program from its syntax tree, and TypeScript 7 has no such interface. */
function compiler() {
  const tsx = createRequire(import.meta.url).resolve('tsx/package.json')
  return createRequire(tsx)('esbuild')
}
