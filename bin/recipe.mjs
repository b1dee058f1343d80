// Digests of the sources behind a built file. Node built-ins only: runs before the installation.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

/** A digest over the text of all of them. */
export function recipeOf(root, source) {
  const hash = createHash('sha256')
  for (const file of sourcesBehind(root, source)) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash
}
