import { readData } from '../../shared/data.ts'

/** The sounds of English in the International Phonetic Alphabet, and in ARPABET; the longer signs first. */
const ipa = Object.entries(readData<Readonly<Record<string, string>>>('text/reading/phones.json'))
const vowels = /^(?:aa|ae|ah|ao|aw|ay|eh|er|ey|ih|iy|ow|oy|uh|uw)$/
const phoneNames = new Set(ipa.flatMap(([, phones]) => phones.split(' ')))

/** Sounds in ARPABET with stresses, from ARPABET or the International Phonetic Alphabet; undefined for unknown ones. */
export function phonesOf(text: string): string | undefined {
  const names = text.trim().toLowerCase().split(/\s+/)
  if (
    names.length <= 60 &&
    names.every((name) => phoneNames.has(name.replace(/[012]$/, ''))) &&
    (names.length > 1 || /[a-z]{2}/.test(text))
  )
    return names.map((name) => (vowels.test(name) ? `${name}0` : name)).join(' ')
  const phones: string[] = []
  let stress = 0
  for (
    let rest = text
      .trim()
      .normalize('NFC')
      .replace(/[.\s‿ː]+(?=[.\s])|[.\s]/g, '');
    rest !== '';
  ) {
    if (/^[ˈ'ˌ]/.test(rest)) {
      stress = rest.startsWith('ˌ') ? 2 : 1
      rest = rest.slice(1)
      continue
    }
    const known = ipa.find(([sign]) => rest.startsWith(sign))
    if (!known || phones.length > 60) return undefined
    for (const phone of known[1].split(' ')) {
      phones.push(vowels.test(phone) ? `${phone}${stress}` : phone)
      if (vowels.test(phone)) stress = 0
    }
    rest = rest.slice(known[0].length).replace(/^(?:ː|\u0329|ʰ)/, '')
  }
  return phones.length > 0 ? phones.join(' ') : undefined
}
