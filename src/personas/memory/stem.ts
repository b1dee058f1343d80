/**
 * Porter's stemmer for English: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two
 * departures of the author's own reference version (`bli` → `ble`, `logi` → `log`).
 * @param word lower-case ASCII letters; anything else comes back unchanged
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  return tidy(suffixes(suffixes(suffixes(finalY(participle(plural(word))), second), third), fourth, 2))
}

/** `[C](VC){m}[V]`: how many times vowels are followed by consonants. */
function measure(word: string): number {
  let count = 0
  let afterVowel = false
  for (let at = 0; at < word.length; at++) {
    const vowel = isVowel(word, at)
    if (afterVowel && !vowel) count++
    afterVowel = vowel
  }
  return count
}

function isVowel(word: string, at: number): boolean {
  const letter = word[at]!
  if ('aeiou'.includes(letter)) return true
  return letter === 'y' && at > 0 && !isVowel(word, at - 1)
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (isVowel(word, at)) return true
  return false
}

/** Whether a stem ends consonant, vowel, consonant other than w, x, y: such a stem had a final e. */
function endsShort(word: string): boolean {
  const last = word.length - 1
  if (last < 2 || isVowel(word, last) || !isVowel(word, last - 1) || isVowel(word, last - 2)) return false
  return !'wxy'.includes(word[last]!)
}

function endsDouble(word: string): boolean {
  const last = word.length - 1
  return last > 0 && word[last] === word[last - 1] && !isVowel(word, last)
}

/** Step 1a. */
function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

/** Step 1b. */
function participle(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const suffix = ['ed', 'ing'].find((ending) => word.endsWith(ending))
  const root = suffix && word.slice(0, -suffix.length)
  if (!root || !hasVowel(root)) return word
  if (/(?:at|bl|iz)$/.test(root)) return `${root}e`
  if (endsDouble(root) && !/[lsz]$/.test(root)) return root.slice(0, -1)
  return measure(root) === 1 && endsShort(root) ? `${root}e` : root
}

/** Step 1c. */
function finalY(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word
}

type Rules = readonly (readonly [suffix: string, replacement: string])[]

// Within a list the longest suffix that fits is the only one tried; longer ones therefore stand first.
const second = rules(
  'ational:ate ization:ize iveness:ive fulness:ful ousness:ous tional:tion biliti:ble entli:ent ousli:ous ation:ate ' +
    'alism:al aliti:al iviti:ive enci:ence anci:ance izer:ize alli:al ator:ate logi:log bli:ble eli:e',
)
const third = rules('icate:ic ative: alize:al iciti:ic ical:ic ness: ful:')
const fourth = rules(
  'ement: ance: ence: able: ible: ment: sion:s tion:t ant: ent: ism: ate: iti: ous: ive: ize: al: er: ic: ou:',
)

function rules(text: string): Rules {
  return text.split(' ').map((rule): [string, string] => {
    const [suffix = '', replacement = ''] = rule.split(':')
    return [suffix, replacement]
  })
}

/** Steps 2 to 4: replaces the suffix when the measure of the stem before it is at least `least`. */
function suffixes(word: string, list: Rules, least = 1): string {
  const rule = list.find(([suffix]) => word.endsWith(suffix))
  if (!rule) return word
  const root = word.slice(0, -rule[0].length)
  const replaced = root + rule[1]
  // In step 4 the s or t of -sion and -tion belongs to the measured stem.
  return measure(list === fourth ? replaced : root) >= least ? replaced : word
}

/** Step 5: 5a removes a final e, 5b a second l. */
function tidy(word: string): string {
  const root = word.slice(0, -1)
  const size = measure(root)
  const isLong = size > 1 || (size === 1 && !endsShort(root))
  return withoutSecondL(word.endsWith('e') && isLong ? root : word)
}

/** Step 5b. @param word lower-case ASCII letters; anything else comes back unchanged */
export function withoutSecondL(word: string): string {
  if (!word.endsWith('ll') || !/^[a-z]+$/.test(word)) return word
  const root = word.slice(0, -1)
  return measure(root) > 1 ? root : word
}
