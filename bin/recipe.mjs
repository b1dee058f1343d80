// Digests of the sources behind a built file. Node built-ins only at the start, since it is loaded before the installation.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { direct } from './doors.mjs'

/**
 * A digest over a program: its source with all that it imports at run time past the doors, without comments, types and
 * formatting, and the lists of words that these read.
 */
export function recipeOf(root, source) {
  const hash = createHash('sha256')
  for (const [file, code] of [...programBehind(root, source)].sort(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`${file}\n`).update(code)
  return hash
}

/** The code of a source and of its direct and indirect imports, by their paths below `root`. */
function programBehind(root, source) {
  const { transformSync } = compiler()
  const options = { loader: 'ts', minifyWhitespace: true, legalComments: 'none', target: 'esnext', tsconfigRaw: '{}' }
  const found = new Map()
  const follow = (file) => {
    if (found.has(file)) return
    const path = join(root, file)
    const { code } = file.endsWith('.json')
      ? { code: readFileSync(path, 'utf8') }
      : transformSync(direct(root, path), options)
    found.set(file, code)
    for (const [, name] of code.matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g))
      follow(normalize(join(dirname(file), name)))
    for (const [, name] of code.matchAll(/\breadWords\(["']([\w-]+)["']\)/g)) follow(`src/personas/words/${name}.json`)
  }
  follow(normalize(source))
  return found
}

/** esbuild, which tsx depends on: it prints a program from its syntax tree, and TypeScript 7 has no such interface. */
function compiler() {
  const tsx = createRequire(import.meta.url).resolve('tsx/package.json')
  return createRequire(tsx)('esbuild')
}
