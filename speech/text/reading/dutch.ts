import { counted, type Habits, rulesOf, table } from './european.ts'
import { groupsOf } from './numbers.ts'

const small =
  `nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien
  negentien`.split(/\s+/)
const tens = '- - twintig dertig veertig vijftig zestig zeventig tachtig negentig'.split(' ')

function underThousand(value: number): string {
  if (value >= 100) {
    const [front, rest] = [Math.floor(value / 100), value % 100]
    return `${front > 1 ? small[front] : ''}honderd${rest > 0 ? underThousand(rest) : ''}`
  }
  if (value < 20) return small[value]!
  const [ten, one] = [tens[Math.floor(value / 10)]!, value % 10]
  return one === 0 ? ten : `${small[one]}${/e$/.test(small[one]!) ? 'ën' : 'en'}${ten}`
}

/** A blank stands behind `duizend`. */
function cardinal(value: number): string {
  if (value === 0) return 'nul'
  return groupsOf(value)
    .map(([count, power]) => {
      if (power < 2) return power === 0 ? underThousand(count) : `${count === 1 ? '' : underThousand(count)}duizend`
      return `${underThousand(count)} ${['miljoen', 'miljard', 'biljoen'][power - 2]}`
    })
    .join(' ')
}

function year(value: number): string {
  const rest = value % 100
  if (value < 1100 || value > 1999) return cardinal(value)
  return `${underThousand(Math.floor(value / 100))}honderd${rest > 0 ? underThousand(rest) : ''}`
}

function ordinal(value: number): string {
  const irregular: Readonly<Record<string, string>> = { een: 'eerste', drie: 'derde', acht: 'achtste' }
  const words = cardinal(value)
  const rest = value % 100
  if (rest > 0 && rest < 20) {
    const last = small[rest]!
    return words.slice(0, words.length - last.length) + (irregular[last] ?? `${last}de`)
  }
  return `${words}ste`
}

const habits: Habits = {
  cardinal,
  point: 'komma',
  decimals: 'number',
  months: 'januari februari maart april mei juni juli augustus september oktober november december'.split(' '),
  shortMonths: 'jan. feb. mrt. apr. jun. jul. aug. sep. sept. okt. nov. dec.',
  date: (day, month, yearWords) => `${cardinal(day)} ${month}${yearWords ? ` ${yearWords}` : ''}`,
  year,
  clock: ':|\\.(?=\\d\\d ?(?:u|tot))|u(?=\\d\\d)',
  clockEnd: '(?: ?uur| ?u\\b)?',
  time: (hour, minute, end) =>
    minute || /uu?r?/.test(end)
      ? `${cardinal(hour)} uur${minute ? ` ${cardinal(minute)}` : ''}`
      : `${cardinal(hour)} uur`,
  currencies: counted(
    `€ = euro, EUR = euro, $ = dollar, US$ = dollar, USD = dollar, £ = pond, GBP = pond, ¥ = yen, JPY = yen, CHF = frank, zł = zloty, ₹ = roepie,
    ₽ = roebel, R$ = real, SEK = kroon | kronen`,
    'een',
  ),
  cents: (whole, cents) => `${whole} ${cents}`,
  scales: counted(
    'mln = miljoen, mln. = miljoen, mld = miljard, mld. = miljard, miljoen = miljoen, miljard = miljard, M = miljoen, k = +duizend | duizend',
    'een',
  ),
  ofScale: (currency) => currency,
  units: {
    ...counted(
      `km = kilometer, m = meter, cm = centimeter, mm = millimeter, kg = kilogram, g = gram, mg = milligram, l = liter, L = liter, ml = milliliter, cl = centiliter,
      km/u = kilometer per uur, km/h = kilometer per uur, m/s = meter per seconde, °C = graad Celsius | graden Celsius, °F = graad Fahrenheit | graden Fahrenheit, ° = graad | graden,
      % = procent, ‰ = promille, m² = vierkante meter, km² = vierkante kilometer, m³ = kubieke meter, ha = hectare, t = ton, u = uur, uur = uur, min. = minuut | minuten, min = minuut | minuten,
      sec. = seconde | seconden, s = seconde | seconden, kW = kilowatt, W = watt, kWh = kilowattuur, V = volt, Hz = hertz, MB = megabyte, GB = gigabyte, TB = terabyte, pk = pk`,
      'een',
    ),
  },
  fractions: 'een half, een derde, twee derde, een kwart, drie kwart',
  half: 'en een half',
  cent: 'cent',
  ordinalMark: 'e|de|ste',
  ordinal: (value) => ordinal(value),
  abbreviations:
    table(`bijv. = bijvoorbeeld, bv. = bijvoorbeeld, d.w.z. = dat wil zeggen, enz. = enzovoort, dhr. = de heer, Dhr. = De heer, mevr. = mevrouw, Mevr. = Mevrouw, mw. = mevrouw, nr.# = nummer,
    Nr.# = nummer, blz.# = bladzijde, p.# = pagina, o.a. = onder andere, m.a.w. = met andere woorden, ca. = circa, t/m = tot en met, v.Chr. = voor Christus, v. Chr. = voor Christus,
    n.Chr. = na Christus, prof. = professor, Prof. = Professor, dr. = doctor, Dr. = Doctor, ir. = ingenieur, ing. = ingenieur, drs. = doctorandus, St. = Sint, a.u.b. = alstublieft,
    i.p.v. = in plaats van, t.o.v. = ten opzichte van, m.b.t. = met betrekking tot, i.v.m. = in verband met, z.s.m. = zo snel mogelijk, max. = maximaal, min. = minimaal, tel. = telefoon,
    incl. = inclusief, excl. = exclusief, evt. = eventueel, hfst.# = hoofdstuk, afb.# = afbeelding, art.# = artikel, jl. = jongstleden, resp. = respectievelijk, etc. = et cetera, str. = straat`),
  roman: (value, { before, match }) =>
    /\p{Lu}\p{Ll}{2,} $/u.test(before) && value < 31 && !/^[ICDMLX]$/.test(match[0])
      ? `de ${ordinal(value)}`
      : undefined,
  words: {
    minus: 'min',
    to: 'tot',
    plus: 'plus',
    times: 'keer',
    over: 'gedeeld door',
    equals: 'is',
    and: 'en',
    at: 'apenstaartje',
    number: 'nummer',
    per: 'per',
    dot: 'punt',
    dash: 'streepje',
  },
}

export const dutch = rulesOf(habits)
