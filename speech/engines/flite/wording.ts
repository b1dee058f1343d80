/** Units behind a number: one, and more of it. */
const units: Readonly<Record<string, readonly [one: string, more: string]>> = {
  km: ['kilometer', 'kilometers'],
  m: ['meter', 'meters'],
  cm: ['centimeter', 'centimeters'],
  mm: ['millimeter', 'millimeters'],
  kg: ['kilogram', 'kilograms'],
  g: ['gram', 'grams'],
  mg: ['milligram', 'milligrams'],
  lb: ['pound', 'pounds'],
  lbs: ['pound', 'pounds'],
  oz: ['ounce', 'ounces'],
  ft: ['foot', 'feet'],
  mi: ['mile', 'miles'],
  mph: ['mile per hour', 'miles per hour'],
  'km/h': ['kilometer per hour', 'kilometers per hour'],
  'm/s': ['meter per second', 'meters per second'],
  ml: ['milliliter', 'milliliters'],
  l: ['liter', 'liters'],
  L: ['liter', 'liters'],
  ms: ['millisecond', 'milliseconds'],
  s: ['second', 'seconds'],
  min: ['minute', 'minutes'],
  h: ['hour', 'hours'],
  hrs: ['hour', 'hours'],
  W: ['watt', 'watts'],
  kW: ['kilowatt', 'kilowatts'],
  kWh: ['kilowatt hour', 'kilowatt hours'],
  V: ['volt', 'volts'],
  Hz: ['hertz', 'hertz'],
  kHz: ['kilohertz', 'kilohertz'],
  MHz: ['megahertz', 'megahertz'],
  GHz: ['gigahertz', 'gigahertz'],
  kB: ['kilobyte', 'kilobytes'],
  KB: ['kilobyte', 'kilobytes'],
  MB: ['megabyte', 'megabytes'],
  GB: ['gigabyte', 'gigabytes'],
  TB: ['terabyte', 'terabytes'],
}
const unitNames = Object.keys(units).toSorted((a, b) => b.length - a.length)

const months = `January February March April May June July August September October November December`.split(' ')

/** Abbreviations in full; flite knows titles (`Dr.`, `Mr.`, `St.`) itself. */
const abbreviations: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/\be\. ?g\.,?/gi, 'for example,'],
  [/\bi\. ?e\.,?/gi, 'that is,'],
  [/\betc\b\.?/gi, 'et cetera'],
  [/\bvs\b\.?/g, 'versus'],
  [/\bapprox\./gi, 'approximately'],
  [/\ba\.k\.a\.?/gi, 'also known as'],
  [/\bPh\.D\./g, 'P H D'],
  [/\b[Nn]o\. (?=\d)/g, 'number '],
  [/\b[Ff]igs?\. (?=\d)/g, 'figure '],
  [/\b[Vv]ol\. (?=\d)/g, 'volume '],
  [/\b[Cc]h\. (?=\d)/g, 'chapter '],
  [/\bpp\. (?=\d)/g, 'pages '],
  [/\bp\. (?=\d)/g, 'page '],
  [/\bInc\./g, 'incorporated'],
  [/\bLtd\./g, 'limited'],
  [/\bDept\./gi, 'department'],
  [/\bw\/o\b/g, 'without'],
  [/\bw\/(?= ?\w)/g, 'with '],
  [/\band\/or\b/gi, 'and or'],
]

/**
 * Writes out the forms that an English reader says in other words: addresses of the web and of mail, dates, ranges,
 * versions, units, months and common abbreviations.
 */
export function wordEnglish(text: string): string {
  let worded = text
    .replace(/\b(?:https?:\/\/(?:www\.)?|www\.)[^\s<>"]+/gi, sayAddress)
    .replace(/\b[\w.+-]{1,64}@[a-z\d-]{1,64}(?:\.[a-z\d-]{1,64})+/gi, (mail) =>
      mail.replaceAll('.', ' dot ').replace('@', ' at '),
    )
    .replace(/\b(\d{4})-(\d\d)-(\d\d)\b/g, sayDate)
    .replace(/(?<=\d)\s?[–—]\s?(?=\d)/g, ' to ')
    .replace(/\bv(?=\d)/g, 'version ')
    .replace(/\b\d+(?:\.\d+){2,}\b/g, (version) => version.replaceAll('.', ' point '))
    // A name with a dot, such as `example.org` and `Node.js`; `U.S.` and `p.m.` have single letters.
    .replace(/(?<=[a-z\d][a-z\d-])\.(?=[a-z]{2})/gi, ' dot ')
  for (const [pattern, words] of abbreviations) worded = worded.replace(pattern, words)
  return worded
    .replace(
      /\b(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?= ?\d)/g,
      (_, name: string) => months.find((month) => month.startsWith(name.slice(0, 3)))!,
    )
    .replace(unitsBehind, (_, number: string, unit: string) => `${number} ${units[unit]![number === '1' ? 0 : 1]}`)
    .replace(/(?<=[a-z])\/(?=[a-z])/gi, ' slash ')
    .replace(/\\/g, ' backslash ')
}

const unitsBehind = new RegExp(`(?<![\\w.,$€£¥])(\\d+(?:[.,]\\d+)?) ?(${unitNames.join('|')})(?![\\w/'’²³])`, 'g')

/** `https://example.org/a-b` is said `example dot org slash a dash b`, with the mark that ends its sentence. */
function sayAddress(address: string): string {
  const [, bare = '', end = ''] =
    /^(.*?)((?<![.,;:!?)\]'"])[.,;:!?)\]'"]*)$/.exec(address.replace(/^(?:https?:\/\/)?(?:www\.)?/i, '')) ?? []
  const words = bare
    .replace(/\/$/, '')
    .replaceAll('.', ' dot ')
    .replaceAll('/', ' slash ')
    .replaceAll('-', ' dash ')
    .replaceAll('?', ' question mark ')
    .replaceAll(':', ' colon ')
  return `${words}${end}`
}

function sayDate(date: string, year: string, month: string, day: string): string {
  const name = months[Number(month) - 1]
  return name && Number(day) >= 1 && Number(day) <= 31 ? `${name} ${Number(day)}, ${year}` : date
}
