import { greekName, signName, signs } from '../../text/signs.ts'

/**
 * Writes English text in the plain ASCII that flite reads: accents fall off, signs become words. Returns '' when nothing is
 * left to say. `divideUnspoken` has removed before the characters that have no spelling here, and the rules of English
 * have written out what is said in other words.
 */
export function spellPlainly(text: string): string {
  const plain = text
    .replace(/[^\x20-\x7e]|[_=+&@%#<>^~]/gu, (character) => {
      const name = signName(character) ?? greekName(character)
      return name ? ` ${name} ` : (signs.letters[character] ?? signs.marks[character] ?? character)
    })
    .normalize('NFKD')
    .replace(/[\p{M}]/gu, '')
    .replace(/[–—]/g, ', ')
    .replace(/⁄/g, '/')
    .replace(/[^\x20-\x7e]/gu, ' ')
    // A letter by itself beside another is no article.
    .replace(/\bA(?= [A-Z]\b)|(?<=\b[A-Z] )A\b/g, 'ay')
    .replace(/\s+/g, ' ')
    .replace(/(?<! ) +([.,;:!?])/g, '$1')
    .trim()
  return /[A-Za-z0-9]/.test(plain) ? plain : ''
}
