import { counted, type Habits, rulesOf, table } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const small =
  `cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho
  diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve`.split(
    /\s+/,
  )
const tens = '- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' ')
const hundreds =
  '- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos'.split(' ')
const ordinals = '- primer segund tercer cuart quint sext séptim octav noven décim'.split(' ')

function underThousand(value: number): string {
  if (value === 100) return 'cien'
  const rest = value % 100
  const low =
    rest < 30 ? small[rest]! : `${tens[Math.floor(rest / 10)]}${rest % 10 > 0 ? ` y ${small[rest % 10]}` : ''}`
  return value < 100 ? low : `${hundreds[Math.floor(value / 100)]}${rest > 0 ? ` ${low}` : ''}`
}

/** Before a noun `uno` loses its end. */
const counting = (words: string) => words.replace(/veintiuno$/, 'veintiún').replace(/\buno$/, 'un')

function cardinal(value: number): string {
  if (value === 0) return 'cero'
  const [high, low] = [Math.floor(value / 1_000_000), value % 1_000_000]
  const thousands = groupsOf(low).map(([count, power]) =>
    power === 0 ? underThousand(count) : count === 1 ? 'mil' : `${counting(underThousand(count))} mil`,
  )
  return [high > 0 ? (high === 1 ? 'un millón' : `${counting(cardinal(high))} millones`) : '', ...thousands]
    .filter(Boolean)
    .join(' ')
}

/** `doscientas casas`, `una casa`, `veintiún días`. */
function agree(words: string, after: string): string {
  const [, noun = ''] = /^ (\p{Ll}{2,})/u.exec(after) ?? []
  if (/^(?:y|o|de|del|en|a|por|con|que|es|son|más|menos|se|al|hasta|para|millones)$/.test(noun) || noun === '')
    return words
  const isFeminine =
    /as?$/.test(noun) &&
    !/^(?:días?|problemas?|sistemas?|programas?|temas?|mapas?|planetas?|idiomas?|poemas?|climas?|para|hasta)$/.test(
      noun,
    )
  return isFeminine
    ? words
        .replace(/ientos/g, 'ientas')
        .replace(/quinientos/, 'quinientas')
        .replace(/uno$/, 'una')
    : counting(words)
}

const habits: Habits = {
  cardinal,
  counting,
  point: 'coma',
  decimals: 'number',
  months: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' '),
  shortMonths: 'ene. feb. mar. abr. jun. jul. ago. sept. oct. nov. dic.',
  date: (day, month, year) => `${cardinal(day)} de ${month}${year ? ` de ${year}` : ''}`,
  year: cardinal,
  clock: ':|\\.(?=\\d\\d ?h)',
  clockEnd: '(?: ?h(?:rs)?\\.?)?',
  time: (hour, minute, end) =>
    `${hour === 1 ? 'una' : cardinal(hour)}${minute ? ` ${minute < 10 ? 'cero ' : ''}${cardinal(minute)}` : ''}${end.includes('h') ? ' horas' : ''}`,
  currencies: counted(
    `€ = euro | euros, EUR = euro | euros, $ = dólar | dólares, US$ = dólar | dólares, USD = dólar | dólares, £ = +una libra | libras,
    GBP = +una libra | libras, ¥ = yen | yenes, CHF = franco suizo | francos suizos, MXN = peso mexicano | pesos mexicanos, zł = esloti | eslotis,
    ₹ = +una rupia | rupias, ₽ = rublo | rublos, R$ = real | reales, JPY = yen | yenes`,
    'un',
  ),
  cents: (whole, cents) => `${whole} con ${cents}`,
  scales: counted(
    'M = millón | millones, millones = millón | millones, millón = millón, mil = +mil | mil, k = +mil | mil, mill. = millón | millones',
    'un',
  ),
  ofScale: (currency) => `de ${currency}`,
  units: {
    ...counted(
      `km = kilómetro | kilómetros, m = metro | metros, cm = centímetro | centímetros, mm = milímetro | milímetros, kg = kilogramo | kilogramos,
      g = gramo | gramos, mg = miligramo | miligramos, l = litro | litros, L = litro | litros, ml = mililitro | mililitros, cl = centilitro | centilitros,
      km/h = kilómetro por hora | kilómetros por hora, m/s = metro por segundo | metros por segundo, °C = grado Celsius | grados Celsius, ºC = grado Celsius | grados Celsius,
      °F = grado Fahrenheit | grados Fahrenheit, ° = grado | grados, % = por ciento, ‰ = por mil, m² = metro cuadrado | metros cuadrados,
      km² = kilómetro cuadrado | kilómetros cuadrados, m³ = metro cúbico | metros cúbicos, ha = +una hectárea | hectáreas, t = +una tonelada | toneladas,
      h = +una hora | horas, min = minuto | minutos, s = segundo | segundos, kW = kilovatio | kilovatios, W = vatio | vatios, kWh = kilovatio hora | kilovatios hora,
      V = voltio | voltios, Hz = hercio | hercios, MB = megabyte | megabytes, GB = gigabyte | gigabytes, TB = terabyte | terabytes`,
      'un',
    ),
  },
  fractions: 'un medio, un tercio, dos tercios, un cuarto, tres cuartos',
  half: 'y medio',
  cent: 'céntimos',
  agree,
  ordinalMark: '\\.?[ºª°]|er|ro|ra|do|da|to|ta',
  ordinal(value, mark) {
    const stem = ordinals[value]
    if (!stem) return /[ºª°]/.test(mark) ? cardinal(value) : undefined
    return /er$/.test(mark) ? stem : `${stem}${/ª|a$/.test(mark) ? 'a' : 'o'}`
  },
  abbreviations:
    table(`Sr. = señor, Sra. = señora, Srta. = señorita, Sres. = señores, Dr. = doctor, Dra. = doctora, D. = don, Dña. = doña, Ud. = usted, Uds. = ustedes,
    EE. UU. = Estados Unidos, EE.UU. = Estados Unidos, pág.# = página, págs.# = páginas, p.# = página, n.º# = número, nº# = número, n.°# = número, núm.# = número,
    p. ej. = por ejemplo, etc. = etcétera, a. C. = antes de Cristo, d. C. = después de Cristo, Avda. = avenida, Av. = avenida, C/ = calle, cap.# = capítulo,
    vol.# = volumen, fig.# = figura, art.# = artículo, tel. = teléfono, Tel. = teléfono, Prof. = profesor, Profa. = profesora, aprox. = aproximadamente, máx. = máximo, mín. = mínimo,
    Sto. = santo, Sta. = santa, S. = san, Cía. = compañía, Lic. = licenciado, Ing. = ingeniero, Gral. = general, izq. = izquierda, dcha. = derecha`),
  roman(value, { before, match }) {
    if (/siglos? $/i.test(before)) return cardinal(value)
    if (!/\p{Lu}\p{Ll}{2,} $/u.test(before) || value > 30 || /^[CDMLX]$/.test(match[0])) return undefined
    return value < 11 ? `${ordinals[value]}o` : cardinal(value)
  },
  more: {
    digits: [
      rule('(\\d{1,2}) h(?![\\p{L}\\p{N}])', ({ match: [, hour] }) => habits.time(Number(hour), undefined, 'h')),
    ],
  },
  words: {
    minus: 'menos',
    to: 'a',
    plus: 'más',
    times: 'por',
    over: 'entre',
    equals: 'igual a',
    and: 'y',
    at: 'arroba',
    number: 'número',
    per: 'por',
    dot: 'punto',
    dash: 'guion',
  },
}

export const spanish = rulesOf(habits)
