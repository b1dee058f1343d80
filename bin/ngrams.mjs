// Writes the letter statistics of `eld` so that a look-up parses a few of them: as a literal of 80,000 objects they take 300 ms
// and 100 MB at each start of a process that asks for the language of a text.
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Parts of the statistics, each parsed when it is asked: some five sequences of letters in one. A power of two. */
const partCount = 16_384

/** Replaces the statistics of `eld` in a bundle by a module with the same export, whose `ngrams` answers look-ups alone. */
export const searchableNgrams = {
  name: 'searchable-ngrams',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]eld[\\/]src[\\/]ngrams[\\/]\w+\.js$/ }, async ({ path }) => {
      const { ngramsData } = await import(pathToFileURL(path).href)
      return { contents: searchable(ngramsData), loader: 'js', watchFiles: [fileURLToPath(import.meta.url)] }
    })
  },
}

function searchable({ ngrams, ...data }) {
  const parts = Array.from({ length: partCount }, () => [])
  for (const [sequence, scores] of Object.entries(ngrams))
    parts[partOf(sequence, partCount)].push(`${JSON.stringify(sequence)}:${JSON.stringify(scores)}`)
  // JSON holds no line break of its own.
  const text = parts.map((entries) => (entries.length > 0 ? `{${entries.join(',')}}` : '')).join('\n')
  return `
${partOf}
const parts = ${JSON.stringify(text)}.split('\\n')
const scoresOf = (_, sequence) => {
  const part = parts[partOf(sequence, ${partCount})]
  return part ? JSON.parse(part)[sequence] : undefined
}
export const ngramsData = { ...${JSON.stringify(data)}, ngrams: new Proxy({}, { get: scoresOf }) }
`
}

/** The part of a sequence; also the text of this function, which goes into the bundle. */
function partOf(sequence, count) {
  let hash = 0
  for (let at = 0; at < sequence.length; at++) hash = Math.imul(hash ^ sequence.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & (count - 1)
}
