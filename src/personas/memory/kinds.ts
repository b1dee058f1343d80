import type { MemoryEntry, Metadata } from './memory.ts'
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

/** Whether a memory is told by its user: what it says may end what an earlier one said. */
export function isTold(memory: Pick<MemoryEntry, 'content' | 'metadata'>): boolean {
  const kind = kindOf(memory)
  return kind === 'statement' || kind === 'note'
}

/** The longest message that does nothing but confirm, in characters. */
const longestConfirmation = 80

/** How a message begins that confirms what was just said, in 15 languages; "yes" alone may answer an offer. */
const confirmation = new RegExp(
  `^(?:${[
    "(?:yes|yeah|yep|right|correct|exactly|true),? ?(?:that(?:'s| is) )?(?:right|correct|true|it|exactly(?: right)?)|(?:that(?:'s| is) |you(?:'re| are) )?(?:right|correct|exactly(?: right)?)|exactly",
    '(?:ja,? )?(?:das )?(?:stimmt|genau|richtig|korrekt)(?: so)?',
    "(?:oui,? )?(?:c'est )?(?:exact|exactement|correct|juste|ça|bien ça|vrai)",
    '(?:sí|si),? (?:así es|correcto|exacto|eso es|es correcto|cierto)|(?:exacto|correcto|así es|eso es|cierto)',
    '(?:sì|si),? (?:esatto|giusto|corretto|è così|è vero)|(?:esatto|giusto|corretto|esattamente)',
    '(?:sim,? )?(?:certo|correto|exato|exatamente|isso mesmo|é isso|está certo)',
    '(?:ja,? )?(?:(?:dat )?klopt|precies|juist|inderdaad)',
    '(?:tak,? )?(?:zgadza się|dokładnie|racja|właśnie|prawda|to prawda)',
    '(?:evet,? )?(?:doğru|aynen|kesinlikle|haklısın)',
    '(?:да,? )?(?:верно|правильно|точно|именно|всё верно|это так)',
    '(?:так,? )?(?:вірно|правильно|точно|саме так|все вірно)',
    '(?:نعم،? )?(?:صحيح|بالضبط|هذا صحيح|تماما)',
    '(?:हाँ,? |हां,? |जी,? )?(?:सही|बिल्कुल|ठीक कहा|सही है|बिलकुल सही)',
    '(?:はい、?|うん、?)?(?:そうです|その通り(?:です)?|合って(?:い)?ます|正解(?:です)?|正しいです)',
    '(?:对|是的|没错|嗯)[，,]?(?:没错|是的|就是这样|正确)|(?:没错|正确|对的|就是这样)',
  ].join(
    '|',
  )})(?:,? (?:thanks|thank you|danke|merci|gracias|grazie|obrigad[oa]|bedankt|dzięki|teşekkürler|спасибо|дякую))?[\\s.!。！]*$`,
  'iu',
)

/** Whether a message does nothing but confirm the answer before it: "yes, right". */
export function isConfirmation(text: string): boolean {
  const said = text.trim().normalize('NFC').replace(/[’‘]/g, "'")
  return said.length <= longestConfirmation && confirmation.test(said)
}
