import type { NewAccount } from '../../../src/accounts/users.ts'
import { type AdaptationRecord, chainRecord, type LogHead } from '../../../src/personas/adaptation/log.ts'
import { nothingLearned } from '../../../src/personas/adaptation/state.ts'
import type { NewMemory, RetentionPolicy, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import {
  type IncomingMemory,
  type Outcome,
  type PersonaWrite,
  type Revision,
  readSnapshot,
  writeWhole,
} from '../../../src/personas/package/archive.ts'
import type { BackupRow } from '../../../src/personas/package/outcomes.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import type { Price } from '../../../src/usage/prices/price.ts'
import type { NewPrice } from '../../../src/usage/prices/store.ts'

/** Milliseconds since 1970: the time of the samples. */
export const noon = Date.UTC(2026, 5, 1, 12)

export const keepAll: RetentionPolicy = {
  maxMemories: 1e9,
  maxAge: Number.MAX_SAFE_INTEGER,
  cleanup: false,
  now: noon,
}

export function account(id: string, more: Partial<NewAccount> = {}): NewAccount {
  return {
    id,
    username: id,
    email: null,
    passwordHash: 'hash',
    role: 'user',
    mustChangePassword: false,
    createdAt: noon,
    ...more,
  }
}

export function persona(id: string, owner: string, more: Partial<Persona> = {}): Persona {
  return { id, user_id: owner, name: id, model: 'm', parameters: {}, created_at: noon, updated_at: noon, ...more }
}

export function memory(content: string, more: Partial<NewMemory> = {}): NewMemory {
  return { content, timestamp: noon, importance_score: 0.5, metadata: {}, ...more }
}

/** A unit vector of eight dimensions; those of near angles are near. */
export function vector(angle: number): Vector {
  const values = new Float32Array(8)
  values[0] = Math.cos(angle)
  values[1] = Math.sin(angle)
  return { space: { key: 'contract/8', model: 'contract', dimension: 8 }, values }
}

/** Saves a persona of that owner; resolves with its scope. */
export async function makeScope(storage: Storage, id: string, owner = 'ada'): Promise<Scope> {
  await storage.personas.save(persona(id, owner))
  return { personaId: id, userId: owner }
}

/** The next record of a log. */
export function record({ personaId, userId }: Scope, id: string, head: LogHead, key?: string): AdaptationRecord {
  return chainRecord(
    {
      id,
      persona_id: personaId,
      user_id: userId,
      timestamp: noon,
      adaptation_type: 'note',
      trigger_event: 'contract',
      changes: [],
      status: 'applied',
      inputs: { kind: 'note', about: {} },
      ...(key !== undefined && { idempotency_key: key }),
    },
    head,
  )
}

export function backup(id: string, personaId: string, more: Partial<BackupRow> = {}): BackupRow {
  return {
    backup_id: id,
    persona_id: personaId,
    created_at: noon,
    reason: 'manual',
    checksum: 'sum',
    content_hash: 'hash',
    bytes: 10,
    memories: 0,
    adaptations: 0,
    ...more,
  }
}

/** A price of the operator's. */
export function newPrice(model: string, input: number, more: Partial<Price> = {}): NewPrice {
  return { source: 'operator', origin: 'ada', price: { plugin: 'p', model, rates: { input }, ...more } }
}

/** So many memories of a package. */
export function* incoming(count: number, word = 'memory'): Generator<IncomingMemory> {
  for (let at = 0; at < count; at++)
    yield { ...memory(`${word} ${at}`, { timestamp: noon + at }), id: `${word}-${at}`, extra: {} }
}

/** A whole persona that comes with so many memories. */
export function whole(id: string, owner: string, count: number, more: Partial<PersonaWrite> = {}): PersonaWrite {
  return {
    persona: persona(id, owner),
    how: 'create',
    memories: () => incoming(count),
    count,
    weight: 0,
    log: { records: [], learned: nothingLearned() },
    passthrough: {},
    ...more,
  }
}

/** The persona's revision now; undefined where that user has no such persona. */
export function revisionOf({ packages }: Pick<Storage, 'packages'>, scope: Scope): Promise<Revision | undefined> {
  return readSnapshot(packages, scope, async ({ revision }) => revision)
}

/** Writes a whole persona, under the revision that it has before. */
export async function publish(storage: Pick<Storage, 'packages'>, write: PersonaWrite): Promise<Outcome> {
  const scope = { personaId: write.persona.id, userId: write.persona.user_id }
  const expected = write.how === 'create' ? undefined : await revisionOf(storage, scope)
  return writeWhole(storage.packages, write, expected === undefined ? {} : { expected })
}

/** The contents of a whole persona's memories as its snapshot gives them. */
export function snapshotContents(
  { packages }: Pick<Storage, 'packages'>,
  scope: Scope,
): Promise<readonly string[] | undefined> {
  return readSnapshot(packages, scope, async (snapshot) => {
    const read: string[] = []
    for await (const batch of snapshot.memories()) read.push(...batch.map(({ entry }) => entry.content))
    return read
  })
}

/** The contents of a scope's memories as `list` gives them. */
export async function contents(storage: Storage, scope: Scope, limit = 1000, offset = 0): Promise<readonly string[]> {
  const { entries } = await storage.memories.list(scope, { limit, offset })
  return entries.map(({ content }) => content)
}
