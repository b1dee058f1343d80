/** Tags of HTML and SSML; any other word in angle brackets is one where its closing tag is there too. */
const tagNames = new Set(
  `a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button canvas caption center cite code
  col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1 h2
  h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark menu meta meter nav
  noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script search section select
  slot small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title
  tr track tt u ul var video wbr speak voice prosody emphasis break say-as phoneme`.split(/\s+/),
)
/** Tags that begin a paragraph, a line or a cell. */
const paragraphs = new Set(
  `address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4
  h5 h6 header hr html li main nav ol option p pre section summary table thead tbody tr ul`.split(/\s+/),
)
/** Elements with content that is not text for readers. */
const hidden = new Set(['script', 'style', 'template', 'svg', 'head', 'noscript', 'iframe', 'textarea', 'select'])

/** A comment, or a tag with its attributes; `a < b` and `a <b and c> d` are none. */
const markup =
  /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)((?:\s+[a-z_:@][\w:.@-]*(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))?)*)\s*\/?>/giu

/**
 * Takes HTML out of a text: tags go, with the content of scripts and styles; blocks become paragraphs, cells of a table are
 * separated as those of Markdown are, and entities become their characters. Text without tags only has its entities read.
 */
export function dropMarkup(text: string): string {
  return readEntities(text.includes('<') ? dropTags(text) : text)
}

function dropTags(text: string): string {
  const closed = new Set([...text.matchAll(/<\/([a-z][\w-]{0,40})\s*>/giu)].map((found) => found[1]!.toLowerCase()))
  let kept = ''
  let from = 0
  /** The hidden element that is open. */
  let inside: string | undefined
  for (const found of text.matchAll(markup)) {
    const [whole, slash, tag, attributes = ''] = found
    const name = tag?.toLowerCase()
    if (name !== undefined && !isTag(name, attributes, closed)) continue
    if (inside === undefined) kept += text.slice(from, found.index) + (name ? breakOf(name, slash === '/') : '')
    from = found.index + whole.length
    if (inside === undefined && slash === '' && name && hidden.has(name) && closed.has(name)) inside = name
    else if (slash === '/' && name === inside) inside = undefined
  }
  return inside === undefined ? kept + text.slice(from) : kept
}

/** A bare word as attribute is one only where HTML has such: `<b and c>` compares. */
function isTag(name: string, attributes: string, closed: ReadonlySet<string>): boolean {
  const bare = attributes.replace(/=\s*(?:"[^"]*"|'[^']*'|\S+)/g, '=').match(/[^\s=]+(?=\s|$)(?!\s*=)/g) ?? []
  if (
    bare.some(
      (word) =>
        !/^(?:disabled|checked|hidden|async|defer|controls|autoplay|loop|muted|open|required|readonly|selected|multiple|download|allowfullscreen|data-.*)$/i.test(
          word,
        ),
    )
  )
    return false
  return tagNames.has(name) || closed.has(name)
}

function breakOf(name: string, closing: boolean): string {
  if (name === 'br') return '\n\n'
  if (name === 'td' || name === 'th') return closing ? '' : ' | '
  return paragraphs.has(name) ? '\n\n' : ''
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  sect: '§',
  deg: '°',
  micro: 'µ',
  middot: '·',
  bull: '•',
  times: '×',
  divide: '÷',
  plusmn: '±',
  minus: '−',
  frac12: '½',
  frac14: '¼',
  frac34: '¾',
  sup2: '²',
  sup3: '³',
  le: '≤',
  ge: '≥',
  ne: '≠',
  asymp: '≈',
  infin: '∞',
  rarr: '→',
  larr: '←',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  ecirc: 'ê',
  agrave: 'à',
  aacute: 'á',
  acirc: 'â',
  iacute: 'í',
  oacute: 'ó',
  ocirc: 'ô',
  uacute: 'ú',
  ntilde: 'ñ',
  ccedil: 'ç',
  aring: 'å',
  aelig: 'æ',
  oslash: 'ø',
  shy: '',
  zwj: '',
  zwnj: '',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
}

function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}\d{0,2}));/giu, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? entities[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : ''
  })
}
