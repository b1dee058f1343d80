import { wellFormed } from '../../formats/formats.ts'
import { viewLearned } from '../adaptation/state.ts'
import type { Fields } from '../fields.ts'
import type { Persona } from '../persona.ts'
import { packagedFields } from '../profile/packaged.ts'
import type { ArchivedMemory, Passthrough, PersonaSnapshot } from './archive.ts'
import { knownFeatures, minReaderVersion, type PackageContent, type PackageMemory, packageVersion } from './format.ts'

export interface ExportOptions {
  /** Milliseconds since 1970 UTC. */
  readonly exportedAt: number
  /** The writing program, such as `aichat 1.2.3`. */
  readonly producer: string
  /** Without vectors a package is a tenth of the size; an import computes them again. */
  readonly embeddings: boolean
}

/** The contents of a persona's package, valid for as long as the snapshot. Passthrough goes back to its place. */
export function packageContent(snapshot: PersonaSnapshot, options: ExportOptions): PackageContent {
  const { persona, learned, passthrough } = snapshot
  return {
    persona: personaFields(persona, passthrough),
    state: {
      ...passthrough.state,
      persona_id: persona.id,
      user_id: persona.user_id,
      ...viewLearned(learned),
      last_mutation: learned.clock || persona.created_at,
    },
    metadata: metadataOf(snapshot, options),
    extra: { ...passthrough.extra, ...packagedFields(snapshot.profile) },
    log: snapshot.log() as AsyncIterable<readonly unknown[]> as AsyncIterable<readonly Fields[]>,
    memories: memoriesOf(snapshot, options.embeddings),
  }
}

function metadataOf({ persona, passthrough, spaces }: PersonaSnapshot, options: ExportOptions): Fields {
  return {
    ...passthrough.metadata,
    version: packageVersion,
    min_reader_version: minReaderVersion,
    required_features: options.embeddings
      ? knownFeatures
      : knownFeatures.filter((name) => !name.startsWith('embeddings')),
    producer: options.producer,
    exported_at: options.exportedAt,
    user_id: persona.user_id,
    embedding_spaces: options.embeddings ? spaces : [],
    ...(passthrough.lineage && { lineage: passthrough.lineage }),
  }
}

/** The persona's fields over unknown ones; settings keep their unknown fields. */
function personaFields({ extra = {}, mcp_servers: _servers, ...persona }: Persona, passthrough: Passthrough): Fields {
  const settings = (['memory_settings', 'mutation_settings'] as const).flatMap((name) => {
    const both = { ...(extra[name] as Fields | undefined), ...persona[name] }
    return Object.keys(both).length > 0 || persona[name] ? [[name, both] as const] : []
  })
  return {
    ...extra,
    ...persona,
    parameters: wellFormed(persona.parameters),
    ...Object.fromEntries(settings),
    ...(passthrough.card && { character_card: passthrough.card }),
    ...(passthrough.portrait !== undefined && { portrait: passthrough.portrait }),
  }
}

async function* memoriesOf(snapshot: PersonaSnapshot, embeddings: boolean): AsyncGenerator<readonly PackageMemory[]> {
  for await (const batch of snapshot.memories()) yield batch.map((memory) => packageMemory(memory, embeddings))
}

function packageMemory({ entry, extra }: ArchivedMemory, embeddings: boolean): PackageMemory {
  const { vector, ...fields } = entry
  const known = { ...extra, ...fields, metadata: wellFormed(fields.metadata) }
  if (!vector || !embeddings) return { fields: known }
  return { fields: { ...known, embedding_space: vector.space.key }, vector: vector.values }
}
