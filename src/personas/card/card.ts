import { AppError } from '../../errors.ts'
import {
  canonicalize,
  defaultJsonLimits,
  parseStrictJson,
  parseStrictJsonBytes,
  plainPng,
  printableLine,
  readPngTexts,
  writePngTexts,
} from '../../formats/formats.ts'
import { type Fields, isFields } from '../fields.ts'
import type { MemoryEntry } from '../memory/memory.ts'
import { isFirstVersion } from './first-version.ts'
import { writeLorebook } from './lorebook.ts'

/**
 * Character cards, version 1 and 2 (https://github.com/malfoyslastname/character-card-spec-v2) and version 3
 * (https://github.com/kwaroran/character-card-spec-v3): how other programs pass characters on. A card is kept whole, as
 * it came, and exported with later changes: its unknown fields "must never be destroyed". Its lorebook becomes memories,
 * see lorebook.ts.
 */
export interface Card extends Fields {
  readonly spec: string
  readonly spec_version: string
  readonly data: Fields
}

export interface CardPersona {
  readonly name: string
  readonly model?: string
  readonly description?: string
  readonly system_prompt?: string
  readonly nickname?: string
  readonly post_history_instructions?: string
  readonly parameters?: Fields
  readonly embedding_model?: string
  readonly memory_settings?: Fields
  readonly mutation_settings?: Fields
}

/** The card extension for fields that cards lack. Learned state is not exported: cards are passed around. */
const ourExtension = 'aichat/persona'

/** The fields of the extension. */
const ourFields = [
  'model',
  'parameters',
  'embedding_model',
  'memory_settings',
  'mutation_settings',
  'system_prompt',
] as const

/** The required texts of a version 2 card; `''` when empty. */
const cardTexts = [
  'name',
  'description',
  'personality',
  'scenario',
  'first_mes',
  'mes_example',
  'creator_notes',
  'system_prompt',
  'post_history_instructions',
  'creator',
  'character_version',
] as const

/** Whether a JSON value names the specification of a card. */
export function isCard(value: unknown): value is Card {
  return isFields(value) && typeof value['spec'] === 'string' && value['spec'].startsWith('chara_card_')
}

/** The card in a PNG's texts: the newer of the two when both are there. Throws `invalid` when there is none. */
export function readCardPng(png: Uint8Array): Card {
  const texts = new Map(readPngTexts(png).map(({ keyword, text }) => [keyword.toLowerCase(), text]))
  const text = texts.get('ccv3') ?? texts.get('chara')
  if (text === undefined) throw new AppError('invalid', 'The picture holds no character card')
  // One character class after the other: linear time for any text.
  if (!/^[A-Za-z0-9+/\s]*(?:=[=\s]*)?$/.test(text))
    throw new AppError('invalid', 'The character card in the picture is damaged')
  return parseCard(parseStrictJsonBytes(Buffer.from(text, 'base64'), cardLimits))
}

/** A card of a JSON text. */
export function readCardJson(text: string): Card {
  // The byte order mark of an editor is no part of the JSON.
  return parseCard(parseStrictJson(text.replace(/^\ufeff/, ''), cardLimits))
}

/** `mend`: cards are written by hand and by programs that cut texts in the middle of a character. */
const cardLimits = { ...defaultJsonLimits, mend: true }

/** Validates a card; version 1 becomes 2, and later than 3 is accepted. Throws `invalid` naming every problem. */
export function parseCard(given: unknown): Card {
  const value = isFields(given) && isFirstVersion(new Set(Object.keys(given))) ? secondVersion(given) : given
  if (!isCard(value))
    throw new AppError('invalid', 'Invalid character card: it has no spec chara_card_v2 or chara_card_v3')
  const { data } = value
  if (!isFields(data)) throw new AppError('invalid', 'Invalid character card: it has no data')
  const wrong = cardTexts.filter((name) => (data[name] ?? undefined) !== undefined && typeof data[name] !== 'string')
  const problems = [
    ...wrong.map((name) => `data.${name} must be a text`),
    ...(textOf(data, 'name').trim() === '' ? ['data.name must not be empty'] : []),
    ...((data['extensions'] ?? undefined) === undefined || isFields(data['extensions'])
      ? []
      : ['data.extensions must be an object']),
  ]
  if (problems.length > 0) throw new AppError('invalid', 'Invalid character card', { details: problems })
  return value
}

/** A card of version 1 as one of version 2: its six texts move into `data`; other programs' fields beside them stay. */
function secondVersion(card: Fields): Fields {
  const texts = ['name', 'description', 'personality', 'scenario', 'first_mes', 'mes_example']
  const beside = Object.entries(card).filter(([name]) => !texts.includes(name) && name !== 'data')
  const data = { ...emptyData, ...Object.fromEntries(texts.map((name) => [name, card[name] ?? ''])), extensions: {} }
  return { ...Object.fromEntries(beside), spec: 'chara_card_v2', spec_version: '2.0', data }
}

/** The persona that a card describes; its `model` is known only when the card comes from here. */
export function personaOfCard(card: Card): CardPersona {
  const { data } = card
  const ours = extensionsOf(data)[ourExtension]
  const ourValues = isFields(ours)
    ? ourFields.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]] as const]))
    : []
  const description = textOf(data, 'description')
  const nickname = printableLine(textOf(data, 'nickname')).trim().slice(0, 200)
  const after = afterHistoryOf(card)
  return {
    name: printableLine(textOf(data, 'name')).trim().slice(0, 200),
    ...(description && { description }),
    system_prompt: promptOf(card),
    ...(nickname && { nickname }),
    ...(after && { post_history_instructions: after }),
    ...Object.fromEntries(ourValues),
  }
}

/** A sentence for each part of a card that chats do not use; those parts are kept and exported again. */
export function unusedOf({ data }: Card, patterns: number): readonly string[] {
  const greetings = (['alternate_greetings', 'group_only_greetings'] as const)
    .flatMap((name) => (Array.isArray(data[name]) ? data[name] : []))
    .filter((text) => typeof text === 'string' && text.trim() !== '').length
  return [
    ...(patterns > 0
      ? [`${patterns} of the lorebook's entries have regular expressions as keys, which are kept and never run`]
      : []),
    ...(greetings > 0
      ? [`The card's other greetings (${greetings}) are kept; a conversation begins with its first one`]
      : []),
  ]
}

/** A card's lorebook without its entries but these, which cannot be memories. */
export function withoutLore(card: Card, kept: readonly unknown[]): Card {
  const book = card.data['character_book']
  if (!isFields(book)) return card
  return { ...card, data: { ...card.data, character_book: { ...book, entries: kept } } }
}

interface CarriedMemory {
  readonly entry: MemoryEntry
  readonly extra: Fields
}

/** The card of a persona, of version 3, with its later changes. Memories with keys are its lorebook; no others go. */
export function cardOfPersona(
  persona: CardPersona,
  original: Card | undefined,
  memories: Iterable<CarriedMemory> = [],
): Card {
  const base: Fields = original?.data ?? emptyData
  const prompt = persona.system_prompt ?? ''
  // An unchanged prompt is the one that the card's own texts make.
  const after = original && afterHistoryOf(original)
  // Cards were once imported with their last instructions at the end of the prompt.
  const isEarlier = original !== undefined && after !== '' && prompt === `${promptOf(original)}\n\n${after}`
  const unchanged = isEarlier || (original !== undefined && prompt === promptOf(original))
  const { nickname, post_history_instructions: instructions = '' } = persona
  const book = writeLorebook(base['character_book'], memories)
  const data = {
    ...base,
    name: persona.name,
    description: persona.description ?? '',
    ...(unchanged ? {} : { system_prompt: prompt }),
    ...(isEarlier || instructions === after ? {} : { post_history_instructions: instructions }),
    ...(nickname !== undefined && { nickname }),
    group_only_greetings: base['group_only_greetings'] ?? [],
    ...(book && { character_book: book }),
    extensions: { ...extensionsOf(base), [ourExtension]: extensionOf(persona, unchanged) },
  }
  return { ...original, spec: 'chara_card_v3', spec_version: '3.0', data }
}

/**
 * A card in a picture: the given one, or a plain grey one. Readers of version 2 find an older text beside the newer one,
 * with a notice in its creator's notes, as version 3 recommends.
 */
export function writeCardPng(card: Card, picture: Uint8Array = plainPng(64)): Buffer {
  const notice = 'This card was written for a newer version: some of its features may be lost here.'
  const notes = [notice, textOf(card.data, 'creator_notes')].filter(Boolean).join('\n\n')
  const older = { ...card, spec: 'chara_card_v2', spec_version: '2.0', data: { ...card.data, creator_notes: notes } }
  return writePngTexts(picture, [
    { keyword: 'chara', text: encoded(older) },
    { keyword: 'ccv3', text: encoded(card) },
  ])
}

const emptyData: Fields = {
  ...Object.fromEntries(cardTexts.map((name) => [name, ''])),
  alternate_greetings: [],
  tags: [],
}

function extensionOf(persona: CardPersona, unchanged: boolean): Fields {
  const fields = ourFields.filter((name) => persona[name] !== undefined && !(unchanged && name === 'system_prompt'))
  return Object.fromEntries(fields.map((name) => [name, persona[name]]))
}

function promptOf({ data }: Card): string {
  const labelled = (label: string, field: string) => {
    const text = textOf(data, field)
    return text && `${label}: ${text}`
  }
  const parts = [
    withoutOriginal(textOf(data, 'system_prompt')) || 'You are {{char}}. Stay in this role.',
    textOf(data, 'description'),
    labelled('Personality', 'personality'),
    labelled('Scenario', 'scenario'),
    labelled('Example of how {{char}} talks', 'mes_example'),
  ]
  return withNames(data, parts.filter(Boolean).join('\n\n'))
}

/** The instructions of a card that stand behind the conversation. */
function afterHistoryOf({ data }: Card): string {
  return withNames(data, withoutOriginal(textOf(data, 'post_history_instructions')))
}

/** `{{original}}` stands for the prompt of the program: there is none. */
function withoutOriginal(text: string): string {
  return text.replaceAll(/\{\{original\}\}/gi, '').trim()
}

function withNames(data: Fields, text: string): string {
  const name = textOf(data, 'nickname') || textOf(data, 'name')
  return text.replaceAll(/\{\{char\}\}/gi, () => name).replaceAll(/\{\{user\}\}/gi, 'the user')
}

function encoded(card: Card): string {
  return Buffer.from(canonicalize(card)).toString('base64')
}

function textOf(data: Fields, name: string): string {
  const text = data[name]
  return typeof text === 'string' ? text : ''
}

function extensionsOf(data: Fields): Fields {
  return isFields(data['extensions']) ? data['extensions'] : {}
}
