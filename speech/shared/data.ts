import { readFileSync } from 'node:fs'

/** The content of a JSON file of this room that ships with the package, by its path below `speech`. Its content is trusted. */
export function readData<Content>(path: string): Content {
  return JSON.parse(readFileSync(new URL(`./speech/${path}`, import.meta.resolve('#package')), 'utf8')) as Content
}
