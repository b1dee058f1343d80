import { stemmer } from 'stemmer'

/**
 * The stem of an English word by M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two
 * departures of the author's own reference version (`bli` → `ble`, `logi` → `log`).
 * @param word lower-case ASCII letters; any other word comes back unchanged
 */
export function stem(word: string): string {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word
}

/** Step 5b of the algorithm alone: no other step changes a word that ends in ll. */
export function withoutSecondL(word: string): string {
  return word.endsWith('ll') ? stem(word) : word
}
