import { readWords } from '../words/read-words.ts'
import type { MemoryEntry, Metadata, RankOfWorth } from './memory.ts'
import { isAsked } from './questions.ts'

/**
 * What a memory is. A statement is the user's words in a conversation; a question only asked; an answer is the persona's own; a note
 * was stored by hand or by a program; lore comes into prompts by its keys.
 */
export type MemoryKind = 'statement' | 'question' | 'answer' | 'note' | 'lore'

const kinds: ReadonlySet<unknown> = new Set<MemoryKind>(['statement', 'question', 'answer', 'note', 'lore'])

/**
 * The kind of a memory: that of its label `kind`, where it has one, and else what its words and its other labels say. The label stands
 * where they would say something else, such as on an answer that the user confirmed.
 */
export function kindOf(memory: Pick<MemoryEntry, 'content' | 'metadata'>): MemoryKind {
  const { kind, keys, role, source } = memory.metadata
  if (kinds.has(kind)) return kind as MemoryKind
  if (Array.isArray(keys)) return 'lore'
  if (isAsked(memory)) return 'question'
  if (role === 'assistant') return 'answer'
  return source === undefined ? 'note' : 'statement'
}

/** Whether a memory is an answer of the persona that its user has not confirmed. */
export function isAnswer({ role, kind }: Metadata): boolean {
  return role === 'assistant' && kind !== 'statement'
}

/** Whether a memory is stated by its user: what it says may end what an earlier one said. */
export function isTold(memory: Pick<MemoryEntry, 'content' | 'metadata'>): boolean {
  const kind = kindOf(memory)
  return kind === 'statement' || kind === 'note'
}

/** The longest message that does nothing but confirm, in characters. */
const longestConfirmation = 80

/** How a message begins that confirms what was just said, in 15 languages; "yes" alone may answer an offer. */
const confirmation = new RegExp(
  `^(?:${Object.values(readWords<Readonly<Record<string, string>>>('confirmations')).join('|')})(?:,? (?:thanks|thank you|danke|merci|gracias|grazie|obrigad[oa]|bedankt|dzięki|teşekkürler|спасибо|дякую))?[\\s.!。！]*$`,
  'iu',
)

/** Whether a message does nothing but confirm the answer before it: "yes, right". */
export function isConfirmation(text: string): boolean {
  const said = text.trim().normalize('NFC').replace(/[’‘]/g, "'")
  return said.length <= longestConfirmation && confirmation.test(said)
}

/**
 * Why a memory stays or goes: questions leave first, then answers of the persona, what is over, and what passes with its day; then what
 * was stated, and last what stands for life or was said again or confirmed. Within a rank, importance and age decide.
 */
export function rankOfWorth(memory: Pick<MemoryEntry, 'content' | 'metadata'>): RankOfWorth {
  const { role, kind, times, ended_by: over } = memory.metadata
  const own = kindOf(memory)
  if (own === 'question' || own === 'answer') return own
  if (over !== undefined) return 'over'
  if (own === 'lore') return 'told'
  if (Array.isArray(times) || (role === 'assistant' && kind === 'statement')) return 'standing'
  const text = memory.content.slice(0, longestRead)
  if (standing.test(text) || standingUnspaced.test(text)) return 'standing'
  return memory.content.length <= longestPassing && (passing.test(text) || passingUnspaced.test(text))
    ? 'passing'
    : 'told'
}

/** Characters in which standing facts are looked for, and of a memory that passes. */
const longestRead = 600
const longestPassing = 240

/** Words of health, diet, family and names, whose loss would harm. */
const standing =
  /(?<!\p{L})(?:allerg\p{L}*|alergi\p{L}*|alerji\p{L}*|uczulon\p{L}*|аллерг\p{L}*|алерг\p{L}*|diabet\p{L}*|diyabet\p{L}*|диабет\p{L}*|діабет\p{L}*|asthma\p{L}*|epilep\p{L}*|coeliac|celiac|insulin\p{L}*|pacemaker|blood type|blutgruppe|pregnant|schwanger|enceinte|embarazada|vegetari\p{L}*|vegan\p{L}*|wegetar\p{L}*|вегетар\p{L}*|halal|kosher|koscher|intoleran\p{L}*|gluten\p{L}*|my name is|call me|ich heiße|nenn mich|je m'appelle|appelle-moi|me llamo|llámame|mi chiamo|chiamami|chamo-me|meu nome|ik heet|noem me|nazywam się|mam na imię|adım|меня зовут|мене звати|my (?:\p{L}+ )?(?:birthday|wife|husband|son|daughter|mother|father|mum|mom|dad|sister|brother|partner)|(?:mein|meine) (?:frau|mann|sohn|tochter|mutter|vater|schwester|bruder)|(?:ma|mon) (?:femme|mari|fils|fille|mère|père|sœur|frère)|mi (?:esposa|marido|hijo|hija|madre|padre|hermana|hermano)|mi[ao] (?:moglie|marito|figli[oa]|madre|padre|sorella|fratello)|(?:minha|meu) (?:esposa|marido|filh[oa]|mãe|pai|irmão|irmã)|mijn (?:vrouw|man|zoon|dochter|moeder|vader|zus|broer)|moj[aą]? (?:żona|mąż|syn|córka|matka|ojciec|siostra|brat)|(?:моя|мой|мій) (?:жена|муж|сын|дочь|мать|отец|сестра|брат|дружина|чоловік|син|донька)|(?:eşim|kocam|karım|oğlum|kızım|annem|babam)|زوجتي|زوجي|ابني|ابنتي|أمي|أبي|حساسية|اسمي|سكري|मेरा नाम|एलर्जी|मधुमेह|मेर[ाी] (?:पत्नी|पति|बेटा|बेटी|माँ|पिता))(?!\p{L})/iu
const standingUnspaced =
  /アレルギー|糖尿病|名前は|妻|夫|娘|息子|过敏|過敏|我叫|我(?:的)?(?:妻子|丈夫|老婆|老公|儿子|女儿|妈妈|爸爸)/u

/** Words of a day's course: appointments, meals, the weather. */
const passing =
  /(?<!\p{L})(?:meetings?|stand-?up|sync|call with|tonight|tomorrow|lunch|weather|traffic|\d{1,2}(?::\d\d)? ?[ap]m|at \d{1,2}:\d\d|besprechung|termin|mittagessen|wetter|\d{1,2}(?::\d\d)? uhr|réunion|demain|météo|\d{1,2} ?h(?:\d\d)?|reunión|mañana por|riunione|domani|reunião|amanhã|vergadering|spotkanie|jutro|toplantı|yarın|встреча|совещание|завтра|зустріч|нарада|اجتماع|غدا|बैठक|मीटिंग)(?!\p{L})/iu
const passingUnspaced = /会議|打ち合わせ|明日|开会|会议|明天/u
