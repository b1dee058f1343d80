import { greekName, plainLetters, signName } from '../../text/signs.ts'
import { wordEnglish } from './wording.ts'

/** Marks for a pause, and silent ones. */
const marks: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': ', ',
  '—': ', ',
  '…': '... ',
  '。': '. ',
  '．': '. ',
  '！': '! ',
  '？': '? ',
  '，': ', ',
  '、': ', ',
  '；': '; ',
  '：': ': ',
  '（': ' (',
  '）': ') ',
  '¿': '',
  '¡': '',
  _: ' ',
}

/**
 * Writes English text in the plain ASCII that flite reads: accents fall off, signs become words. Returns '' when nothing is
 * left to say. `divideUnspoken` has removed before the characters that have no spelling here.
 */
export function spellPlainly(text: string): string {
  const plain = spellSigns(wordEnglish(text))
    .normalize('NFKD')
    .replace(/[\p{M}]/gu, '')
    .replace(/[–—]/g, ', ')
    .replace(/⁄/g, '/')
    .replace(/[^\x20-\x7e]/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/(?<! ) +([.,;:!?])/g, '$1')
    .trim()
  return /[A-Za-z0-9]/.test(plain) ? plain : ''
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function spellSigns(text: string): string {
  return text
    .replace(/([€£¥₩₹₽₿₺₴₫₪₱₦฿])\s?(\d+(?:[.,]\d+)*(?: (?:thousand|million|billion|trillion)\b)?)/gu, '$2$1')
    .replace(
      /\$(\d+(?:[.,]\d+)*) ?(k|m|bn|thousand|million|billion|trillion)\b/g,
      (_, sum: string, unit: string) =>
        `${sum} ${{ k: 'thousand', m: 'million', bn: 'billion' }[unit] ?? unit} dollars`,
    )
    .replace(/°\s?C\b/g, '℃')
    .replace(/°\s?F\b/g, '℉')
    .replace(/(\d) ?([¼½¾⅓⅔⅕⅖⅗⅘⅙⅛⅜⅝⅞])/g, '$1 and $2')
    .replace(/(?<=[\p{L}\p{N})])([⁻⁺]?)([⁰¹²³⁴-⁹]+)/gu, (run, sign: string, digits: string) =>
      sign === '' && /^[²³]$/.test(digits)
        ? run
        : ` to the power of ${sign === '⁻' ? 'minus ' : ''}${plainDigits(digits)} `,
    )
    .replace(/\s[-–](?=\d)/g, ' minus ')
    .replace(/#(?=\d)/g, 'number ')
    .replace(/(?<=[CFAJ])#/g, ' sharp')
    .replace(/[^\x20-\x7e]|[_=+&@%#<>^~]/gu, (character) => {
      const name = signName(character) ?? greekName(character)
      return name ? ` ${name} ` : (plainLetters[character] ?? marks[character] ?? character)
    })
}

function plainDigits(digits: string): string {
  return digits.replace(/./gu, (digit) => String(superscripts.indexOf(digit)))
}
