import { type Fields, isFields, withoutFields } from '../fields.ts'
import type { EmbeddingSpace } from '../memory/memory.ts'
import type { IncomingMemory } from './archive.ts'
import type { PackageHead, PackageMemory } from './format.ts'
import type { PackageSource } from './source.ts'

const knownFields = new Set([
  'id',
  'user_id',
  'persona_id',
  'content',
  'timestamp',
  'importance_score',
  'metadata',
  'embedding_space',
  'embedding',
  'embedding_length',
])

/** The memories of a package: under new ids for an import, under their own for a restore (`newId` undefined). */
export function* incomingMemories(source: PackageSource, newId: (() => string) | undefined): Generator<IncomingMemory> {
  const spaces = spacesOf(source.head)
  for (const memory of source.memories()) {
    const { fields, vector } = memory
    const values = vector && !vector.every((value) => value === 0) ? vector : undefined
    yield {
      id: newId ? newId() : String(fields['id']),
      content: String(fields['content']),
      timestamp: Number(fields['timestamp']),
      importance_score: Number(fields['importance_score']),
      metadata: isFields(fields['metadata']) ? fields['metadata'] : {},
      ...(values && { vector: { values, space: spaceOf(memory, values.length, spaces) } }),
      extra: withoutFields(fields, knownFields),
    }
  }
}

function spacesOf({ metadata, persona }: PackageHead): (key: string) => EmbeddingSpace {
  const listed = Array.isArray(metadata['embedding_spaces']) ? metadata['embedding_spaces'].filter(isFields) : []
  const spaces = new Map<unknown, Fields>(listed.map((space) => [space['key'], space]))
  const fallback = typeof persona['embedding_model'] === 'string' ? persona['embedding_model'] : 'unknown'
  return (key) => {
    const { model, dimension } = spaces.get(key) ?? {}
    return {
      key,
      model: typeof model === 'string' ? model : fallback,
      dimension: typeof dimension === 'number' ? dimension : 0,
    }
  }
}

/** The space that a memory names when its dimension is right; packages of other programs name none. */
function spaceOf({ fields }: PackageMemory, dimension: number, find: (key: string) => EmbeddingSpace): EmbeddingSpace {
  const key = typeof fields['embedding_space'] === 'string' ? fields['embedding_space'] : ''
  const space = find(key)
  if (key !== '' && (space.dimension === dimension || space.dimension === 0)) return { ...space, dimension }
  return { key: `imported/${space.model}#${dimension}`, model: space.model, dimension }
}
