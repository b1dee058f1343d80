import { counted, type Habits, rulesOf, table } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const small =
  `zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit
  dix-neuf`.split(/\s+/)
const tens = '- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' ')

function underHundred(value: number): string {
  if (value < 20) return small[value]!
  if (value === 80) return 'quatre-vingts'
  const ten = Math.floor(value / 10)
  const rest = ten === 7 || ten === 9 ? 10 + (value % 10) : value % 10
  if (rest === 0) return tens[ten]!
  return `${tens[ten]}${(rest === 1 || rest === 11) && ten < 8 ? ' et ' : '-'}${small[rest]}`
}

function underThousand(value: number, isLast: boolean): string {
  const hundreds = Math.floor(value / 100)
  const rest = value % 100
  if (hundreds === 0) return isLast ? underHundred(rest) : underHundred(rest).replace('vingts', 'vingt')
  const front = `${hundreds > 1 ? `${small[hundreds]} ` : ''}cent${hundreds > 1 && rest === 0 && isLast ? 's' : ''}`
  return rest === 0 ? front : `${front} ${underHundred(rest)}`
}

function cardinal(value: number): string {
  if (value === 0) return 'zéro'
  return groupsOf(value)
    .map(([count, power]) => {
      if (power < 2)
        return power === 0 ? underThousand(count, true) : `${count === 1 ? '' : `${underThousand(count, false)} `}mille`
      return `${underThousand(count, true)} ${['million', 'milliard', 'billion'][power - 2]}${count > 1 ? 's' : ''}`
    })
    .join(' ')
}

function ordinal(value: number): string {
  if (value === 1) return 'premier'
  return (
    cardinal(value)
      .replace(/s$/, (s) => (value % 100 === 80 ? '' : s))
      .replace(/cinq$/, 'cinqu')
      .replace(/neuf$/, 'neuv')
      .replace(/e$/, '') + 'ième'
  )
}

const feminine = (words: string) => words.replace(/\bun$/, 'une')

const habits: Habits = {
  cardinal,
  point: 'virgule',
  decimals: 'number',
  months: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' '),
  shortMonths: 'janv. févr. avr. juil. sept. oct. nov. déc.',
  date: (day, month, year) => `${day === 1 ? 'premier' : cardinal(day)} ${month}${year ? ` ${year}` : ''}`,
  year: cardinal,
  clock: ' ?h ?|:',
  clockEnd: '(?: ?h)?',
  time: (hour, minute) =>
    `${feminine(cardinal(hour))} heure${hour > 1 ? 's' : ''}${minute ? ` ${cardinal(minute)}` : ''}`,
  currencies: counted(
    `€ = euro | euros, EUR = euro | euros, $ = dollar | dollars, US$ = dollar | dollars, USD = dollar | dollars, £ = +une livre | livres,
    GBP = +une livre | livres, ¥ = yen | yens, JPY = yen | yens, CHF = franc suisse | francs suisses, zł = zloty | zlotys, ₹ = +une roupie | roupies,
    ₽ = rouble | roubles, R$ = réal | reals, F = franc | francs, CAD = dollar canadien | dollars canadiens`,
    'un',
  ),
  cents: (whole, cents) => `${whole} ${cents}`,
  scales: counted(
    'M = million | millions, Md = milliard | milliards, Mds = milliard | milliards, k = +mille | mille, millions = million | millions, milliards = milliard | milliards, million = million, milliard = milliard',
    'un',
  ),
  ofScale: (currency) => (/^[aeiouh]/.test(currency) ? `d'${currency}` : `de ${currency}`),
  units: {
    ...counted(
      `km = kilomètre | kilomètres, m = mètre | mètres, cm = centimètre | centimètres, mm = millimètre | millimètres,
      kg = kilogramme | kilogrammes, g = gramme | grammes, mg = milligramme | milligrammes, l = litre | litres, L = litre | litres,
      ml = millilitre | millilitres, cl = centilitre | centilitres, km/h = kilomètre par heure | kilomètres par heure, m/s = mètre par seconde | mètres par seconde,
      °C = degré Celsius | degrés Celsius, °F = degré Fahrenheit | degrés Fahrenheit, ° = degré | degrés, % = pour cent, ‰ = pour mille,
      m² = mètre carré | mètres carrés, km² = kilomètre carré | kilomètres carrés, m³ = mètre cube | mètres cubes, ha = hectare | hectares,
      t = +une tonne | tonnes, h = +une heure | heures, min = +une minute | minutes, s = +une seconde | secondes, kW = kilowatt | kilowatts, W = watt | watts,
      kWh = kilowattheure | kilowattheures, V = volt | volts, Hz = hertz | hertz, Mo = mégaoctet | mégaoctets, Go = gigaoctet | gigaoctets, To = téraoctet | téraoctets, ans = an | ans`,
      'un',
    ),
  },
  fractions: 'un demi, un tiers, deux tiers, un quart, trois quarts',
  half: 'et demi',
  cent: 'centimes',
  ordinalMark: 'er|re|ère|e|ème|nd|nde',
  ordinal: (value, mark) =>
    value === 1
      ? /^(?:re|ère)$/.test(mark)
        ? 'première'
        : 'premier'
      : /^n/.test(mark)
        ? `second${mark === 'nde' ? 'e' : ''}`
        : ordinal(value),
  abbreviations:
    table(`M. = Monsieur, MM. = Messieurs, Mme = Madame, Mmes = Mesdames, Mlle = Mademoiselle, Dr = Docteur, Dr. = Docteur, Pr = Professeur, Me = Maître,
    n°# = numéro, N°# = numéro, p. ex. = par exemple, etc. = et cetera, c.-à-d. = c'est-à-dire, av. J.-C. = avant Jésus-Christ, apr. J.-C. = après Jésus-Christ,
    p.# = page, pp.# = pages, chap.# = chapitre, vol.# = volume, fig.# = figure, art.# = article, bd = boulevard, Bd = boulevard, av. = avenue, Av. = avenue,
    env. = environ, éd. = édition, St = Saint, Ste = Sainte, tél. = téléphone, Tél. = téléphone, cf. = voir, max. = maximum, min. = minimum, ex. = exemple, hab. = habitants, s.v.p. = s'il vous plaît, art. = article`),
  roman(value, { before, after }) {
    if (!/\p{Lu}\p{Ll}{2,} $/u.test(before) || value > 30 || /^\p{L}/u.test(after)) return undefined
    return value === 1 ? 'premier' : cardinal(value)
  },
  more: {
    digits: [
      rule('(\\d{1,2}) ?h(?![\\p{L}\\p{N}/])', ({ match: [, hour] }) => habits.time(Number(hour), undefined, '')),
    ],
  },
  words: {
    minus: 'moins',
    to: 'à',
    plus: 'plus',
    times: 'fois',
    over: 'divisé par',
    equals: 'égale',
    and: 'et',
    at: 'arobase',
    number: 'dièse',
    per: 'par',
    dot: 'point',
    dash: 'tiret',
  },
}

export const french = rulesOf(habits)
