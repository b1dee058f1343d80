/** Letters that do not fall apart into a plain one and a mark. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'th',
  Ð: 'Th',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
}

/** Signs that are words, as English says them. */
const signs: Readonly<Record<string, string>> = {
  '€': ' euros ',
  '£': ' pounds ',
  '¥': ' yen ',
  '₩': ' won ',
  '₹': ' rupees ',
  '₽': ' roubles ',
  '°': ' degrees ',
  '℃': ' degrees Celsius ',
  '℉': ' degrees Fahrenheit ',
  '№': ' number ',
  '§': ' section ',
  '×': ' times ',
  '÷': ' divided by ',
  '±': ' plus or minus ',
  '−': ' minus ',
  '=': ' equals ',
  '+': ' plus ',
  '&': ' and ',
  '@': ' at ',
  '%': ' percent ',
  µ: ' micro ',
}

/** Marks that mean a pause or nothing. */
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
 * Writes English text in the plain ASCII that flite reads: accents fall off, signs become words, and letters of other
 * scripts are left out. Returns '' when nothing is left to say.
 */
export function spellPlainly(text: string): string {
  const plain = text
    .replace(/([€£¥₩₹₽])\s?(\d+(?:[.,]\d+)*)/gu, '$2$1')
    .replace(
      /[^\x20-\x7e]|[_=+&@%]/gu,
      (character) => letters[character] ?? signs[character] ?? marks[character] ?? character,
    )
    .normalize('NFKD')
    .replace(/[\p{M}]/gu, '')
    .replace(/[–—]/g, ', ')
    .replace(/⁄/g, '/')
    .replace(/[^\x20-\x7e]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return /[A-Za-z0-9]/.test(plain) ? plain : ''
}
