import { readFileSync } from 'node:fs'

/**
 * Letters and digits of other scripts that look like ASCII ones: before the colon stands the ASCII one that the characters
 * behind it look like. From the data of Unicode Technical Standard #39 (confusables.txt, Unicode 15, as ICU 72 has it),
 * except those that compatibility decomposition makes ASCII anyway.
 */
const alike: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('./src/accounts/look-alikes.json', import.meta.resolve('#package')), 'utf8'),
)

const asciiOf: ReadonlyMap<string, string> = new Map(
  Object.entries(alike).flatMap(([ascii, characters]) =>
    [...characters].map((character): [string, string] => [character, ascii]),
  ),
)

/**
 * The look of a name in any script and case: names with the same look are taken for each other, as with the
 * skeletons of UTS #39. Of ASCII's own look-alikes 1, I and l are one, and so are 0 and O.
 */
export function lookOf(name: string): string {
  const shapes = (text: string) => [...text].map((character) => asciiOf.get(character) ?? character).join('')
  // In both cases: a capital may look like another letter than its small form does.
  return shapes(shapes(name.normalize('NFKC')).toLowerCase())
    .normalize('NFC')
    .replace(/[l1]/g, 'i')
    .replaceAll('0', 'o')
}

/** Whether two names that look the same are spoofs of each other: plain ASCII names are distinguished by their readers. */
export function isSpoof(one: string, other: string): boolean {
  return !(isAscii(one) && isAscii(other)) && lookOf(one) === lookOf(other)
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
