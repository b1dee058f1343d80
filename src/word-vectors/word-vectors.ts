/**
 * The vectors of words that are built in: trained at a build, read at run time.
 * Uses: `personas` for the words of a text.
 * Begin with: `read-vectors.ts`.
 */
export { readVectors, type WordVectors } from './read-vectors.ts'
export { baseForm, contentWords, partsOf } from './words.ts'
