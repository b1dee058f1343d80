import { rmSync, statSync } from 'node:fs'
import { canonicalize } from '../../formats/formats.ts'
import { type CardPersona, cardOfPersona, parseCard, writeCardPng } from '../card/card.ts'
import { isLore } from '../memory/lore.ts'
import type { Persona } from '../persona.ts'
import type { ArchivedMemory, PersonaSnapshot } from './archive.ts'

export type ExportFormat = 'json' | 'container' | 'card' | 'card_png' | 'jsonl'

export interface ExportRequest {
  readonly format: ExportFormat
  /** Encrypts the package into an age file; not for cards, which are made to be passed around. */
  readonly passphrase?: string | undefined
  readonly embeddings: boolean
}

/** An exported package in a scratch file, to be sent and then discarded. */
export type ExportedFile = ReturnType<typeof exportedFile>

/** The sums of a package; a card has none. */
export interface Sums {
  readonly checksum?: string
  readonly content_hash?: string
}

/** Describes a written file for its download. */
export function exportedFile(path: string, persona: Persona, request: ExportRequest, sums: Sums) {
  const isEncrypted = request.passphrase !== undefined
  const { ending, type } = forms[request.format]
  return {
    path,
    filename: `${persona.name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) || 'persona'}${ending}${isEncrypted ? '.age' : ''}`,
    type: isEncrypted ? 'application/octet-stream' : type,
    bytes: statSync(path).size,
    /** Of the package, not of an age file around it; undefined for a card and for JSON lines. */
    checksum: sums.checksum,
    content_hash: sums.content_hash,
    discard: () => rmSync(path, { force: true }),
  }
}

const forms: Readonly<Record<ExportFormat, { readonly ending: string; readonly type: string }>> = {
  json: { ending: '.dna.json', type: 'application/json' },
  container: { ending: '.dna.zip', type: 'application/zip' },
  card: { ending: '.card.json', type: 'application/json' },
  jsonl: { ending: '.memories.jsonl', type: 'application/x-ndjson' },
  card_png: { ending: '.card.png', type: 'image/png' },
}

/** A persona as a character card, in JSON or in its picture; its memories with keys are the lorebook. */
export async function cardBytes(
  { persona, passthrough, memories }: Pick<PersonaSnapshot, 'persona' | 'passthrough' | 'memories'>,
  format: 'card' | 'card_png',
): Promise<string | Buffer> {
  const lore: ArchivedMemory[] = []
  for await (const batch of memories()) lore.push(...batch.filter(({ entry }) => isLore(entry.metadata)))
  const original = passthrough.card && parseCard(passthrough.card)
  const card = cardOfPersona(persona as CardPersona, original, lore)
  if (format === 'card') return canonicalize(card)
  return writeCardPng(
    card,
    passthrough.portrait === undefined ? undefined : Buffer.from(passthrough.portrait, 'base64'),
  )
}
