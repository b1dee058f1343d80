// What a file is made from. Node built-ins only, since it runs before anything is installed.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The sources that a source leads to by its imports, itself among them, as paths below `root`, in order. */
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

/** A digest of the text of all of them: another one as soon as any of them is changed. */
export function recipeOf(root, source) {
  const hash = createHash('sha256')
  for (const file of sourcesBehind(root, source)) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash
}
