import type { Synset } from './wordnet.ts'
import { contentWords } from './words.ts'

/** For each synset, the words that its meaning keeps company with, and how much each counts. */
export type Bags = readonly ReadonlyMap<string, number>[]

/** Weights of a synset's own words, its definition and its examples. */
const share = { word: 3, definition: 1, example: 0.5 }

/**
 * Weights of a related synset's words: kinds and derivations define a word, parts and opposites less.
 * The symbols are those of https://wordnet.princeton.edu/documentation/wninput5wn.
 */
const relations: Readonly<Record<string, number>> = {
  '@': 1,
  '@i': 1,
  '&': 1,
  '+': 1,
  '\\': 1,
  '=': 1,
  $: 1,
  '*': 1,
  '>': 1,
  '<': 1,
  '^': 0.7,
  '#p': 0.7,
  '%p': 0.7,
  ';c': 0.7,
  '~': 0.5,
  '~i': 0.5,
  '#m': 0.5,
  '%m': 0.5,
  '#s': 0.5,
  '%s': 0.5,
  '!': 0.3,
  '-c': 0.3,
}

/** A related synset's first words are its common ones. */
const relatedWords = 3

/** One bag per synset: its own words, those that define it, and those of its relatives. */
export function makeBags(synsets: readonly Synset[]): Bags {
  const lemmas = new Set(synsets.flatMap(({ words }) => words.filter((word) => !word.includes('_'))))
  const known = (word: string) => lemmas.has(word)
  const byKey = new Map(synsets.map((synset) => [synset.key, synset]))
  return synsets.map((synset) => {
    const bag = new Map<string, number>()
    const add = (word: string, weight: number) => {
      if (/^[a-z]+$/.test(word)) bag.set(word, (bag.get(word) ?? 0) + weight)
    }
    for (const word of synset.words)
      if (/[_-]/.test(word))
        for (const part of contentWords(word.replaceAll(/[_-]/g, ' '), known)) add(part, share.word)
      else add(word, share.word)
    for (const word of contentWords(synset.definition, known)) add(word, share.definition)
    for (const word of contentWords(synset.examples, known)) add(word, share.example)
    for (const { relation, target } of synset.links) {
      const weight = relations[relation] ?? 0
      if (weight > 0) for (const word of byKey.get(target)?.words.slice(0, relatedWords) ?? []) add(word, weight)
    }
    return bag
  })
}
