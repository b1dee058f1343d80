import { AppError } from '../../errors.ts'
import { printableLine, validate } from '../../formats/formats.ts'
import type { LearnedView } from '../adaptation/state.ts'
import { isCard, parseCard } from '../card/card.ts'
import { type Fields, isFields, withoutFields } from '../fields.ts'
import { memorySettings, mutationSettings, type PersonaInput, personaInput } from '../persona.ts'
import { profileField, profileIn } from '../profile/packaged.ts'
import type { Profile } from '../profile/profile.ts'
import type { Passthrough } from './archive.ts'
import type { PackageHead } from './format.ts'

/** The persona of a package, validated by the rules for any new persona. */
export interface IncomingPersona {
  readonly input: PersonaInput
  readonly extra: Fields
  readonly passthrough: Passthrough
  readonly profile?: Profile
}

const { mcp_servers: _servers, ...packagedFields } = personaInput.shape
const personaNames = Object.keys(packagedFields)
const settingNames = {
  memory_settings: Object.keys(memorySettings.shape),
  mutation_settings: Object.keys(mutationSettings.shape),
}
/** Servers of tools are of the installation that exported: a stranger's package may not name ours. */
const knownPersonaFields = [...personaNames, 'id', 'user_id', 'created_at', 'updated_at', 'mcp_servers']
const knownStateFields = new Set<string>([
  'persona_id',
  'user_id',
  'last_mutation',
  ...([
    'adaptation_level',
    'learned_preferences',
    'behavioral_weights',
    'pinned_traits',
    'sensitivity',
    'frozen',
  ] satisfies (keyof LearnedView)[]),
])
const knownMetadata = new Set(
  'exported_at user_id version checksum content_hash counts record_digests embedding_spaces min_reader_version required_features producer lineage rewritten_from'.split(
    ' ',
  ),
)

/** Steps of lineage that are kept, the newest ones. */
const longestLineage = 50

/** Unknown fields of a persona are read with it at every chat, so they are kept short: characters of JSON. */
const largestExtra = 64 * 1024

/** As large as the parameters in a request that creates a persona can be: characters of JSON. */
const largestParameters = 1024 ** 2

/** Unknown fields of the other parts are read only by an export: characters of JSON. */
const largestPassthrough = 1024 ** 2

/** A card with a long lorebook has 1 to 2 MiB. Characters of JSON. */
export const largestCard = 8 * 1024 ** 2

/** Characters of base64 up to which a picture is kept. */
const largestPortrait = 12 * 1024 ** 2

/** Reads the persona of a package and its passthrough. Throws `invalid` with everything that does not fit. */
export function incomingPersona(head: PackageHead, lineage: Fields): IncomingPersona {
  const known = Object.fromEntries(
    Object.entries(head.persona).filter(([name, value]) => personaNames.includes(name) && value !== null),
  )
  // Names of other programs, and of aichat before it refused them, may hold invisible characters: those are dropped.
  const valid = validate(personaInput, {
    ...known,
    ...(typeof known['name'] === 'string' && { name: printableLine(known['name']) }),
  })
  if (valid.problems !== undefined) {
    const details = valid.problems.map((problem) => `persona.${problem}`)
    throw new AppError('invalid', 'The package has an invalid persona', { details })
  }
  const { character_card: card, portrait } = head.persona
  refuseLong(isCard(card) ? card : '', largestCard, 'The character card of the persona has')
  const understood = [...(isCard(card) ? ['character_card'] : []), ...(isPortrait(portrait) ? ['portrait'] : [])]
  const extra = {
    ...withoutFields(head.persona, new Set([...knownPersonaFields, ...understood])),
    ...unknownSettings(head.persona),
  }
  refuseLong(valid.data.parameters, largestParameters, 'The parameters of the persona have')
  refuseLong(extra, largestExtra, 'The persona carries', unknownFields)
  const metadata = withoutFields(head.metadata, knownMetadata)
  const state = withoutFields(head.state, knownStateFields)
  const { lineage: origin } = head.metadata
  const profile = profileIn(head.extra)
  const passthroughExtra = withoutFields(head.extra, new Set([profileField]))
  const unknown = {
    package: passthroughExtra,
    export_metadata: metadata,
    'lineage of the package': origin ?? [],
    state,
  }
  for (const [name, fields] of Object.entries(unknown))
    refuseLong(fields, largestPassthrough, `The ${name} has`, unknownFields)
  const earlier = Array.isArray(origin) ? origin.filter(isFields) : []
  const passthrough: Passthrough = {
    extra: passthroughExtra,
    metadata,
    state,
    lineage: [...earlier, lineage].slice(-longestLineage),
    ...(isCard(card) && { card: parseCard(card) }),
    ...(isPortrait(portrait) && { portrait }),
  }
  return { input: valid.data, extra, passthrough, ...(profile && { profile }) }
}

const unknownFields = ' in fields that are unknown here'

function refuseLong(value: unknown, most: number, subject: string, where = ''): void {
  if (JSON.stringify(value).length > most)
    throw new AppError('invalid', `${subject} more than ${most} characters${where}`)
}

/** Whether a value is a picture that may be kept, in base64. */
export function isPortrait(value: unknown): value is string {
  return typeof value === 'string' && value.length <= largestPortrait
}

function unknownSettings(persona: Fields): Fields {
  const found = Object.entries(settingNames).flatMap(([name, known]) => {
    const settings = persona[name]
    const rest = isFields(settings) ? withoutFields(settings, new Set(known)) : {}
    return Object.keys(rest).length > 0 ? [[name, rest] as const] : []
  })
  return Object.fromEntries(found)
}
