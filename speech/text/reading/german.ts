import { counted, type Habits, rulesOf, table } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const small =
  `null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
  achtzehn neunzehn`.split(/\s+/)
const tens = '- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ')

/** Below a million a number is one word; `hunderteins`, but `hunderteintausend`. */
function underThousand(value: number, isLast: boolean): string {
  if (value >= 100) {
    const hundreds = Math.floor(value / 100)
    return `${hundreds === 1 ? '' : small[hundreds]}hundert${value % 100 > 0 ? underThousand(value % 100, isLast) : ''}`
  }
  if (value === 1) return isLast ? 'eins' : 'ein'
  if (value < 20) return small[value]!
  const one = value % 10
  return `${one > 0 ? `${one === 1 ? 'ein' : small[one]}und` : ''}${tens[Math.floor(value / 10)]}`
}

function cardinal(value: number): string {
  if (value === 0) return 'null'
  const below = value % 1_000_000
  const thousands = Math.floor(below / 1000)
  const low =
    (thousands > 0 ? `${thousands === 1 ? '' : underThousand(thousands, false)}tausend` : '') +
    (below % 1000 > 0 ? underThousand(below % 1000, true) : '')
  const high = groupsOf(value - below).map(([count, power]) => {
    const name = { 2: 'Million', 3: 'Milliarde', 4: 'Billion' }[power]!
    return count === 1 ? `eine ${name}` : `${underThousand(count, true)} ${name}${name.endsWith('e') ? 'n' : 'en'}`
  })
  return [...high, low].filter(Boolean).join(' ')
}

function year(value: number): string {
  const rest = value % 100
  if (value < 1100 || value > 1999) return cardinal(value)
  return `${cardinal(Math.floor(value / 100))}hundert${rest > 0 ? cardinal(rest) : ''}`
}

/** The stem, to which an ending is added: `dritt`. */
function stem(value: number): string {
  const irregular: Readonly<Record<number, string>> = { 1: 'erst', 3: 'dritt', 7: 'siebt', 8: 'acht' }
  const rest = value % 100
  const front = value > 100 && rest in irregular ? cardinal(value - rest) : ''
  return rest in irregular ? front + irregular[rest] : cardinal(value) + (rest > 0 && rest < 20 ? 't' : 'st')
}

/** The ending that the word before asks for: `am dritten`, `der dritte`, `dritter`. */
function ordinal(value: number, before: string): string {
  const article = /(\p{L}{1,30})[ („"]{1,3}$/u.exec(before)?.[1]?.toLowerCase() ?? ''
  if (/^(?:am|dem|den|vom|zum|zur|im|beim|ab|des|seit|bis|jeden|einen|meinen|seinen|ihren|deren|dessen)$/.test(article))
    return `${stem(value)}en`
  return `${stem(value)}${/^(?:der|die|das|eine|jede|seine|ihre|meine)$/.test(article) ? 'e' : 'er'}`
}

const habits: Habits = {
  cardinal,
  counting: (words) => (words === 'eins' ? 'ein' : words),
  point: 'Komma',
  decimals: 'digits',
  months: 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' '),
  shortMonths: 'Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez',
  date: (day, month, yearWords, before) => `${ordinal(day, before)} ${month}${yearWords ? ` ${yearWords}` : ''}`,
  year,
  clock: '[:.](?=\\d\\d(?: ?Uhr| ?h\\b))|:',
  clockEnd: '(?: ?Uhr| ?h)?',
  time: (hour, minute) => `${hour === 1 ? 'ein' : cardinal(hour)} Uhr${minute ? ` ${cardinal(minute)}` : ''}`,
  currencies: counted(
    `€ = Euro, EUR = Euro, $ = Dollar, US$ = US-Dollar, USD = US-Dollar, £ = Pfund, GBP = Pfund, ¥ = Yen, JPY = Yen,
    CHF = Franken, Fr. = Franken, zł = Zloty, PLN = Zloty, ₹ = Rupie | Rupien, ₽ = Rubel, R$ = Real | Reais, SEK = Kronen`,
    'ein',
  ),
  cents: (whole, cents) => `${whole} ${cents}`,
  scales: counted(
    `Mio. = Million | Millionen, Mio = Million | Millionen, Mrd. = Milliarde | Milliarden, Mrd = Milliarde | Milliarden,
    Bio. = Billion | Billionen, Tsd. = +tausend | tausend, Millionen = Million | Millionen, Milliarden = Milliarde | Milliarden, Million = Million, Milliarde = Milliarde`,
    'eine',
  ),
  ofScale: (currency) => currency,
  units: {
    ...counted(
      `km = Kilometer, m = Meter, cm = Zentimeter, mm = Millimeter, kg = Kilogramm, g = Gramm, mg = Milligramm, l = Liter,
      L = Liter, ml = Milliliter, cl = Zentiliter, km/h = Kilometer pro Stunde, m/s = Meter pro Sekunde, °C = Grad Celsius, ° C = Grad Celsius,
      °F = Grad Fahrenheit, ° = Grad, % = Prozent, ‰ = Promille, m² = Quadratmeter, km² = Quadratkilometer, m³ = Kubikmeter,
      ha = Hektar, t = +eine Tonne | Tonnen, Std. = +eine Stunde | Stunden, h = +eine Stunde | Stunden, Min. = +eine Minute | Minuten, min = +eine Minute | Minuten,
      Sek. = +eine Sekunde | Sekunden, s = +eine Sekunde | Sekunden, kW = Kilowatt, kWh = +eine Kilowattstunde | Kilowattstunden, W = Watt, V = Volt, Hz = Hertz,
      MB = Megabyte, GB = Gigabyte, TB = Terabyte, PS = PS, dB = Dezibel, ct = Cent`,
      'ein',
    ),
  },
  fractions: 'ein halb, ein Drittel, zwei Drittel, ein Viertel, drei Viertel',
  half: 'einhalb',
  cent: 'Cent',
  agree: (words, after) =>
    /^ \p{Lu}/u.test(after)
      ? words.replace(/^eins$/, /^ \p{Lu}\p{Ll}*(?:e|ung|heit|keit|ion|tät)(?!\p{L})/u.test(after) ? 'eine' : 'ein')
      : words,
  ordinalMark: '\\.(?= \\p{L})',
  ordinal(value, _, { before }) {
    return before === '' || value > 999 ? undefined : ordinal(value, before)
  },
  abbreviations:
    table(`z. B. = zum Beispiel, d. h. = das heißt, u. a. = unter anderem, usw. = und so weiter, u. = und, o.g. = oben genannt, o. g. = oben genannt, bzw. = beziehungsweise,
    ca. = circa, Nr.# = Nummer, Nr. = Nummer, Dr. = Doktor, Prof. = Professor, Hr. = Herr, Fr. = Frau, St. = Sankt, S.# = Seite, Bd.# = Band, Kap.# = Kapitel,
    Abb.# = Abbildung, Tel. = Telefon, evtl. = eventuell, ggf. = gegebenenfalls, inkl. = inklusive, exkl. = exklusive, vgl. = vergleiche,
    v. Chr. = vor Christus, n. Chr. = nach Christus, u. U. = unter Umständen, z. T. = zum Teil, o. Ä. = oder Ähnliches, i. d. R. = in der Regel,
    v. a. = vor allem, s. o. = siehe oben, s. u. = siehe unten, etc. = et cetera, geb. = geboren, gest. = gestorben, max. = maximal, min. = minimal,
    Jh. = Jahrhundert, Abs.# = Absatz, Art.# = Artikel, Mwst. = Mehrwertsteuer, MwSt. = Mehrwertsteuer, zzgl. = zuzüglich, bspw. = beispielsweise, sog. = sogenannt, u. v. m. = und vieles mehr,
    Dipl.-Ing. = Diplomingenieur, Str. = Straße, Pl. = Platz, Mio. = Millionen, Mrd. = Milliarden`),
  roman(value, { before, after }) {
    if (/^ (?:Jahrhundert|Jh)/.test(after)) return ordinal(value, before)
    return /\p{Lu}\p{Ll}{2,} $/u.test(before) && value > 1 && value < 30
      ? `der ${capital(`${stem(value)}e`)}`
      : undefined
  },
  more: {
    digits: [
      rule(
        '(\\d0|1[1-9]\\d0|20\\d0)er(?!\\p{L})',
        ({ match: [, value = ''] }) => `${value.length === 2 ? cardinal(Number(value)) : year(Number(value))}er`,
      ),
      rule('(\\d\\d?) Uhr', ({ match: [, hour = ''] }) => `${hour === '1' ? 'ein' : cardinal(Number(hour))} Uhr`),
    ],
    letters: [rule('(\\p{Lu}\\p{Ll}{2,30})str\\.', '$1straße')],
  },
  words: {
    minus: 'minus',
    to: 'bis',
    plus: 'plus',
    times: 'mal',
    over: 'geteilt durch',
    equals: 'gleich',
    and: 'und',
    at: 'ät',
    number: 'Nummer',
    per: 'pro',
    dot: 'Punkt',
    dash: 'Strich',
  },
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const german = rulesOf(habits)
