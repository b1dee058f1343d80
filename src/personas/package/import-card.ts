import { AppError } from '../../errors.ts'
import { validate } from '../../formats/schema-problems.ts'
import { nothingLearned } from '../adaptation/state.ts'
import { personaOfCard, unusedOf } from '../card/card.ts'
import type { CardFile } from '../card/card-file.ts'
import { type Persona, personaInput } from '../persona.ts'
import { type PersonaArchive, type PersonaWrite, writeWhole } from './archive.ts'
import { isPortrait, largestCard } from './import-persona.ts'
import { type Imported, imported } from './imported.ts'
import type { ImportRequest } from './write-task.ts'

export interface CardImportParts {
  readonly archive: PersonaArchive
  readonly now: () => number
  readonly newId: () => string
  /** The chat model for a card that names none. */
  readonly defaultModel: () => string | undefined
}

/** Makes a new persona of a character card. Throws `invalid` naming every problem, and `too_large`. */
export async function importCard(
  parts: CardImportParts,
  owner: string,
  file: CardFile,
  request: ImportRequest,
): Promise<Imported> {
  const { archive, now, newId } = parts
  const { card, portrait } = file
  const persona: Persona = {
    ...personaIn(file, request, parts.defaultModel()),
    id: newId(),
    user_id: owner,
    created_at: now(),
    updated_at: now(),
  }
  const write: PersonaWrite = {
    persona,
    how: 'create',
    memories: () => [],
    count: 0,
    weight: 0,
    log: { records: [], learned: nothingLearned() },
    passthrough: { card, ...(portrait !== undefined && { portrait }) },
  }
  await (request.dry_run ? archive.dryRun(write) : writeWhole(archive, write, {}))
  return { ...imported(persona, request, { memories: 0, adaptations: 0 }, 0), warnings: unusedOf(card) }
}

function personaIn({ card, portrait }: CardFile, request: ImportRequest, defaultModel: string | undefined) {
  if (request.mode !== 'create') throw new AppError('invalid', 'A character card can only be imported as a new persona')
  if (JSON.stringify(card).length > largestCard || (portrait !== undefined && !isPortrait(portrait)))
    throw new AppError('too_large', 'The character card or its picture is too large to be kept', {
      details: [`A card may have ${largestCard} characters, and a picture 9 MiB`],
    })
  const described = personaOfCard(card)
  const model = request.model ?? described.model ?? defaultModel
  const valid = validate(personaInput, { ...described, ...(model !== undefined && { model }) })
  if (valid.problems === undefined) return valid.data
  const details = [
    ...(model === undefined ? ['A card names no chat model: name one (--model, ?model=)'] : []),
    ...valid.problems,
  ]
  throw new AppError('invalid', 'The character card gives an invalid persona', { details })
}
