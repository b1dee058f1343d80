import { readFileSync } from 'node:fs'

/** Reads one of the lists of words beside this file, in the shape that its only reader knows. */
export function readWords<Words>(name: string): Words {
  const url = new URL(`./src/personas/words/${name}.json`, import.meta.resolve('#package'))
  return JSON.parse(readFileSync(url, 'utf8')) as Words
}
