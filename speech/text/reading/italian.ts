import { counted, type Habits, rulesOf, table } from './european.ts'
import { groupsOf } from './numbers.ts'

const small =
  `zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette
  diciotto diciannove`.split(/\s+/)
const tens = '- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta'.split(' ')
const ordinals = '- primo secondo terzo quarto quinto sesto settimo ottavo nono decimo'.split(' ')

function underThousand(value: number): string {
  if (value >= 100) {
    const [front, rest] = [Math.floor(value / 100), value % 100]
    return `${front > 1 ? small[front] : ''}cento${rest > 0 ? underThousand(rest) : ''}`
  }
  if (value < 20) return small[value]!
  const [ten, one] = [tens[Math.floor(value / 10)]!, value % 10]
  if (one === 0) return ten
  return `${one === 1 || one === 8 ? ten.slice(0, -1) : ten}${one === 3 ? 'tré' : small[one]}`
}

function cardinal(value: number): string {
  if (value === 0) return 'zero'
  const [high, low] = [Math.floor(value / 1_000_000), value % 1_000_000]
  const [thousands, rest] = [Math.floor(low / 1000), low % 1000]
  const front =
    thousands === 0 ? '' : thousands === 1 ? 'mille' : `${underThousand(thousands).replace('tré', 'tre')}mila`
  const words = `${front}${rest > 0 ? underThousand(rest) : ''}`
  const millions = groupsOf(high).map(([count, power]) =>
    count === 1 ? `un ${power ? 'miliardo' : 'milione'}` : `${underThousand(count)} ${power ? 'miliardi' : 'milioni'}`,
  )
  return [...millions, words].filter(Boolean).join(' ')
}

function ordinal(value: number, isFeminine = false): string {
  const words =
    ordinals[value] ??
    `${cardinal(value)
      .replace(/tré$/, 'tree')
      .replace(/sei$/, 'seii')
      .replace(/[aeio]$/, '')}esimo`
  return isFeminine ? words.replace(/o$/, 'a') : words
}

const habits: Habits = {
  cardinal,
  point: 'virgola',
  decimals: 'number',
  months: 'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'.split(' '),
  shortMonths: 'gen. feb. mar. apr. giu. lug. ago. set. ott. nov. dic.',
  date: (day, month, year) => `${day === 1 ? 'primo' : cardinal(day)} ${month}${year ? ` ${year}` : ''}`,
  year: cardinal,
  clock: ':|(?<=ore \\d\\d?)\\.',
  clockEnd: '',
  time: (hour, minute) => `${hour === 1 ? 'una' : cardinal(hour)}${minute ? ` e ${cardinal(minute)}` : ''}`,
  currencies: counted(
    `€ = euro, EUR = euro, $ = dollaro | dollari, US$ = dollaro | dollari, USD = dollaro | dollari, £ = +una sterlina | sterline, GBP = +una sterlina | sterline,
    ¥ = +uno yen | yen, CHF = franco svizzero | franchi svizzeri, zł = +uno zloty | zloty, ₹ = +una rupia | rupie, ₽ = rublo | rubli, R$ = real | reais, JPY = +uno yen | yen`,
    'un',
  ),
  cents: (whole, cents) => `${whole} e ${cents}`,
  scales: counted(
    'mln = milione | milioni, mld = miliardo | miliardi, milioni = milione | milioni, miliardi = miliardo | miliardi, milione = milione, miliardo = miliardo, M = milione | milioni, mila = +mille | mila',
    'un',
  ),
  ofScale: (currency) => `di ${currency}`,
  units: {
    ...counted(
      `km = chilometro | chilometri, m = metro | metri, cm = centimetro | centimetri, mm = millimetro | millimetri, kg = chilogrammo | chilogrammi, g = grammo | grammi,
      mg = milligrammo | milligrammi, l = litro | litri, L = litro | litri, ml = millilitro | millilitri, cl = centilitro | centilitri, km/h = chilometro all'ora | chilometri all'ora,
      m/s = metro al secondo | metri al secondo, °C = grado Celsius | gradi Celsius, °F = grado Fahrenheit | gradi Fahrenheit, ° = grado | gradi, % = per cento, ‰ = per mille,
      m² = metro quadrato | metri quadrati, mq = metro quadrato | metri quadrati, km² = chilometro quadrato | chilometri quadrati, m³ = metro cubo | metri cubi, ha = +un ettaro | ettari,
      t = +una tonnellata | tonnellate, h = +un'ora | ore, ora = +un'ora | ore, min = minuto | minuti, s = secondo | secondi, kW = chilowatt, W = watt, kWh = chilowattora, V = volt, Hz = hertz,
      MB = megabyte, GB = gigabyte, TB = terabyte`,
      'un',
    ),
  },
  fractions: 'un mezzo, un terzo, due terzi, un quarto, tre quarti',
  half: 'e mezzo',
  cent: 'centesimi',
  agree: (words, after) =>
    /^ \p{Ll}{3,}/u.test(after) ? words.replace(/^uno$/, /^ \p{Ll}+a(?!\p{L})/u.test(after) ? 'una' : 'un') : words,
  ordinalMark: '[ºª°](?! ?[CF]\\b)',
  ordinal: (value, mark) => ordinal(value, mark === 'ª'),
  abbreviations:
    table(`sig. = signor, sig.ra = signora, sig.na = signorina, Sig. = signor, Sig.ra = signora, dott. = dottor, Dott. = dottor, dott.ssa = dottoressa, Dott.ssa = dottoressa,
    prof. = professor, Prof. = professor, prof.ssa = professoressa, ing. = ingegner, avv. = avvocato, pag.# = pagina, pagg.# = pagine, p.# = pagina, n.# = numero, nn.# = numeri, ecc. = eccetera,
    a.C. = avanti Cristo, d.C. = dopo Cristo, p. es. = per esempio, ad es. = ad esempio, es. = esempio, cap.# = capitolo, vol.# = volume, fig.# = figura, art.# = articolo, tel. = telefono,
    S. = San, ca. = circa, max. = massimo, min. = minimo, cfr. = confronta, S.p.A. = S P A, v. = vedi, P.zza = piazza, V.le = viale, c.a. = circa`),
  roman(value, { before, after, match }) {
    if (/^ secol[oi]/.test(after)) return ordinal(value)
    if (/secolo $/.test(before)) return ordinal(value)
    return /\p{Lu}\p{Ll}{2,} $/u.test(before) && value < 31 && !/^[CDMLX]$/.test(match[0]) ? ordinal(value) : undefined
  },
  words: {
    minus: 'meno',
    from: 'da',
    to: 'a',
    plus: 'più',
    times: 'per',
    over: 'diviso',
    equals: 'uguale',
    and: 'e',
    at: 'chiocciola',
    number: 'numero',
    per: 'al',
    dot: 'punto',
    dash: 'trattino',
  },
}

export const italian = rulesOf(habits)
