import { readFileSync } from 'node:fs'

/** The content of a JSON file below `test/fixtures`. */
export function fixture<Content>(path: string): Content {
  return JSON.parse(
    readFileSync(new URL(`./test/fixtures/${path}`, import.meta.resolve('#package')), 'utf8'),
  ) as Content
}
