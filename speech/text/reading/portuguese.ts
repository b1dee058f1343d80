import { counted, type Habits, rulesOf, table } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const small =
  `zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito
  dezenove`.split(/\s+/)
const tens = '- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa'.split(' ')
const hundreds = '- cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos'.split(
  ' ',
)
const ordinals = '- primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo'.split(' ')
const tenths =
  '- décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(' ')

function underThousand(value: number): string {
  if (value === 100) return 'cem'
  const rest = value % 100
  const low =
    rest < 20 ? small[rest]! : `${tens[Math.floor(rest / 10)]}${rest % 10 > 0 ? ` e ${small[rest % 10]}` : ''}`
  return value < 100 ? low : `${hundreds[Math.floor(value / 100)]}${rest > 0 ? ` e ${low}` : ''}`
}

/** The last group is joined by `e` where it is below a hundred, or whole hundreds. */
function cardinal(value: number): string {
  if (value === 0) return 'zero'
  const groups = groupsOf(value)
  return groups
    .map(([count, power], index) => {
      const words =
        power === 1 && count === 1
          ? 'mil'
          : `${underThousand(count)}${['', ' mil', count > 1 ? ' milhões' : ' milhão', count > 1 ? ' bilhões' : ' bilhão', count > 1 ? ' trilhões' : ' trilhão'][power]}`
      const isJoined = index > 0 && index === groups.length - 1 && (count < 100 || count % 100 === 0)
      return `${index === 0 ? '' : isJoined ? ' e ' : ' '}${words}`
    })
    .join('')
}

function ordinal(value: number, isFeminine: boolean): string | undefined {
  if (value > 99 || value < 1) return undefined
  const words = [tenths[Math.floor(value / 10)], ordinals[value % 10]].filter((word) => word && word !== '-').join(' ')
  return isFeminine ? words.replace(/o\b/g, 'a') : words
}

/** `duas casas`, `duzentas pessoas`. */
function agree(words: string, after: string): string {
  const [, noun = ''] = /^ (\p{Ll}{2,})/u.exec(after) ?? []
  const isFeminine =
    /(?:as?|ções|ção|dade|dades|vezes)$/.test(noun) &&
    !/^(?:dias?|problemas?|sistemas?|programas?|temas?|mapas?|planetas?|idiomas?|poemas?|para|da|das|na|nas)$/.test(
      noun,
    )
  return isFeminine
    ? words
        .replace(/entos/g, 'entas')
        .replace(/\bum$/, 'uma')
        .replace(/\bdois$/, 'duas')
    : words
}

const habits: Habits = {
  cardinal,
  point: 'vírgula',
  decimals: 'number',
  months: 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' '),
  shortMonths: 'jan. fev. mar. abr. jun. jul. ago. set. out. nov. dez.',
  date: (day, month, year) => `${day === 1 ? 'primeiro' : cardinal(day)} de ${month}${year ? ` de ${year}` : ''}`,
  year: cardinal,
  clock: ' ?h ?|:',
  clockEnd: '(?: ?h|min)?',
  time: (hour, minute) =>
    minute
      ? `${feminine(cardinal(hour))} e ${cardinal(minute)}`
      : `${feminine(cardinal(hour))} hora${hour > 1 ? 's' : ''}`,
  currencies: counted(
    `€ = euro | euros, EUR = euro | euros, $ = dólar | dólares, US$ = dólar | dólares, USD = dólar | dólares, R$ = real | reais, BRL = real | reais,
    £ = +uma libra | libras, GBP = +uma libra | libras, ¥ = iene | ienes, CHF = franco suíço | francos suíços, zł = zloty | zlotys, ₹ = +uma rúpia | rúpias, ₽ = rublo | rublos`,
    'um',
  ),
  cents: (whole, cents, currency) =>
    `${whole} e ${cents}${/^reais$/.test(currency) ? (cents === 'um' ? ' centavo' : ' centavos') : ''}`,
  scales: counted(
    'mi = milhão | milhões, bi = bilhão | bilhões, milhões = milhão | milhões, bilhões = bilhão | bilhões, milhão = milhão, bilhão = bilhão, mil = +mil | mil, M = milhão | milhões',
    'um',
  ),
  ofScale: (currency) => `de ${currency}`,
  units: {
    ...counted(
      `km = quilômetro | quilômetros, m = metro | metros, cm = centímetro | centímetros, mm = milímetro | milímetros, kg = quilograma | quilogramas, g = grama | gramas,
      mg = miligrama | miligramas, l = litro | litros, L = litro | litros, ml = mililitro | mililitros, km/h = quilômetro por hora | quilômetros por hora,
      m/s = metro por segundo | metros por segundo, °C = grau Celsius | graus Celsius, ºC = grau Celsius | graus Celsius, °F = grau Fahrenheit | graus Fahrenheit, ° = grau | graus,
      % = por cento, ‰ = por mil, m² = metro quadrado | metros quadrados, km² = quilômetro quadrado | quilômetros quadrados, m³ = metro cúbico | metros cúbicos, ha = hectare | hectares,
      t = +uma tonelada | toneladas, min = minuto | minutos, s = segundo | segundos, kW = quilowatt | quilowatts, W = watt | watts, kWh = quilowatt-hora | quilowatts-hora,
      V = volt | volts, Hz = hertz | hertz, MB = megabyte | megabytes, GB = gigabyte | gigabytes, TB = terabyte | terabytes`,
      'um',
    ),
  },
  fractions: 'meio, um terço, dois terços, um quarto, três quartos',
  half: 'e meio',
  cent: 'centavos',
  agree,
  ordinalMark: '\\.?[ºª°](?! ?[CF]\\b)|[oa](?= \\p{Ll})',
  ordinal: (value, mark) => ordinal(value, /[ªa]/.test(mark)),
  abbreviations:
    table(`Sr. = senhor, Sra. = senhora, Srta. = senhorita, Srs. = senhores, Dr. = doutor, Dra. = doutora, D. = dona, Prof. = professor, Profa. = professora, Eng. = engenheiro,
    pág.# = página, págs.# = páginas, p.# = página, nº# = número, n.º# = número, n°# = número, etc. = etcétera, p. ex. = por exemplo, Av. = avenida, R. = rua, a.C. = antes de Cristo,
    d.C. = depois de Cristo, cap.# = capítulo, vol.# = volume, fig.# = figura, art.# = artigo, tel. = telefone, Tel. = telefone, Cia. = companhia, Ltda. = limitada, EUA = Estados Unidos,
    aprox. = aproximadamente, máx. = máximo, mín. = mínimo, Sto. = santo, Sta. = santa, S. = São, apto.# = apartamento, Pça. = praça, obs. = observação, V. Exa. = vossa excelência`),
  roman(value, { before, match }) {
    if (/séculos? $/i.test(before)) return cardinal(value)
    if (!/\p{Lu}\p{Ll}{2,} $/u.test(before) || value > 30 || /^[CDMLX]$/.test(match[0])) return undefined
    return value < 11 ? ordinals[value] : cardinal(value)
  },
  more: {
    digits: [
      rule('(\\d{1,2}) ?h(?![\\p{L}\\p{N}])', ({ match: [, hour] }) => habits.time(Number(hour), undefined, '')),
    ],
  },
  words: {
    minus: 'menos',
    to: 'a',
    plus: 'mais',
    times: 'vezes',
    over: 'dividido por',
    equals: 'igual a',
    and: 'e',
    at: 'arroba',
    number: 'número',
    per: 'por',
    dot: 'ponto',
    dash: 'hífen',
  },
}

/** Hours are feminine. */
function feminine(words: string): string {
  return words.replace(/\bum$/, 'uma').replace(/\bdois$/, 'duas')
}

export const portuguese = rulesOf(habits)
