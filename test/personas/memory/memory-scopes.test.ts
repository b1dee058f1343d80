// With --all only: a whole sample.
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { askInProcess } from '../../../src/operations/ask.ts'
import {
  addMemory,
  listCategories,
  listEvictions,
  listMemories,
  searchMemories,
  wipeMemories,
} from '../../../src/operations/memories.ts'
import type { Ask, Caller } from '../../../src/operations/operation.ts'
import {
  backUpPersona,
  exportPersona,
  importPersona,
  listBackups,
  restorePersona,
} from '../../../src/operations/packages.ts'
import {
  createPersona,
  listPersonas,
  removePersona,
  showPersona,
  updatePersona,
} from '../../../src/operations/personas.ts'
import {
  createSession,
  listSessions,
  removeSession,
  renameSession,
  showSession,
} from '../../../src/operations/sessions.ts'
import { pluck } from '../../helpers/pluck.ts'
import { openInstallation } from '../../helpers/program/installation.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('memories and conversations in their scopes')

test('no sequence of requests of several users crosses a scope', async () => {
  const { app, close } = openInstallation()
  try {
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 40 }), async (steps) => {
        const world = openWorld(++run, (caller) => askInProcess(app, caller).ask)
        for (const user of world.users) await create(world, user, 0)
        for (const step of steps) {
          await take(world, step)
          await compare(world)
        }
      }),
      { numRuns: 20, endOnFailure: true, includeErrorInReport: true },
    )
    assert.is(run, 20)
  } finally {
    await close()
  }
})

test.run()

const categories = ['', 'food', 'travel'] as const
/** Words that every scope shares, so that a search that strays would find something. */
const words = ['tea', 'coffee', 'Lisbon', 'Oslo', 'sister', 'garden'] as const

interface Step {
  readonly action: (typeof actions)[number]
  /** Indices modulo the number of users, personas and words; a user from 3 on means the persona's owner. */
  readonly user: number
  readonly target: number
  readonly word: number
  readonly category: number
  readonly flag: boolean
}

const actions = [
  'add',
  'add',
  'add',
  'pin',
  'search',
  'search',
  'wipe',
  'wipe category',
  'wipe before',
  'limit',
  'create',
  'remove',
  'back up',
  'restore',
  'export',
  'begin session',
  'rename session',
  'remove session',
] as const

const step: fc.Arbitrary<Step> = fc.record({
  action: fc.constantFrom(...actions),
  user: fc.nat(8),
  target: fc.nat(20),
  word: fc.nat(words.length - 1),
  category: fc.nat(categories.length - 1),
  flag: fc.boolean(),
})

interface Remembered {
  readonly content: string
  readonly category: string
  readonly pinned: boolean
  readonly importance: number
}

interface ModelPersona {
  readonly id: string
  readonly owner: string
  /** By id. */
  memories: Map<string, Remembered>
  readonly backups: { readonly id: string; readonly memories: readonly Remembered[] }[]
}

type User = { readonly caller: Caller; readonly ask: Ask }

interface World {
  readonly users: readonly User[]
  personas: ModelPersona[]
  sessions: { readonly id: string; readonly owner: string; name: string; persona: string | undefined }[]
  count: number
}

function openWorld(run: number, askAs: (caller: Caller) => Ask): World {
  const users = ['ada', 'bob', 'eve'].map((name): User => {
    const caller: Caller = { id: `${name}-${run}`, username: name, role: name === 'ada' ? 'admin' : 'user' }
    return { caller, ask: askAs(caller) }
  })
  return { users, personas: [], sessions: [], count: 0 }
}

/** Performs a step as the user; the owner succeeds as the model says, any other is refused and changes nothing. */
async function take(world: World, step: Step): Promise<void> {
  const named = world.users[step.user % world.users.length]!
  if (step.action === 'create') return create(world, named, step.word)
  if (step.action.endsWith('session')) return takeSession(world, named, step)
  const persona = world.personas[step.target % Math.max(1, world.personas.length)]
  if (!persona) return
  const user = step.user < world.users.length ? named : ownerOf(world, persona)
  const before = JSON.stringify([...persona.memories])
  const outcome = await refusalOf(() => act(world, user, persona, step))
  if (persona.owner === user.caller.id) assert.is(outcome, undefined, step.action)
  else {
    assert.is(outcome, 'forbidden', step.action)
    assert.is(JSON.stringify([...persona.memories]), before)
  }
}

function ownerOf({ users }: World, { owner }: { readonly owner: string }): User {
  return users.find(({ caller }) => caller.id === owner)!
}

async function create(world: World, { caller, ask }: User, word: number): Promise<void> {
  // Personas of one name belong to several users: the name says nothing of the scope.
  const { id } = await ask(createPersona, { name: words[word]!, model: 'm', memory_settings: { enabled: true } })
  world.personas.push({ id, owner: caller.id, memories: new Map(), backups: [] })
}

async function act(world: World, { ask }: User, persona: ModelPersona, step: Step): Promise<void> {
  const { id } = persona
  const word = words[step.word]!
  const category = categories[step.category]!
  switch (step.action) {
    case 'add': {
      // The same words in several scopes, now and then twice in one.
      const content = step.flag ? `I like ${word}.` : `Number ${++world.count}: ${word} again`
      const memory = { content, category, pinned: false, importance: step.word / 10 }
      return store(ask, persona, memory)
    }
    case 'pin': {
      const first = [...persona.memories.values()][0]
      return store(ask, persona, { ...(first ?? { content: word, category: '', importance: 1 }), pinned: true })
    }
    case 'search': {
      const { results } = await ask(searchMemories, { id, query: `Do I like ${word}?`, limit: 100 })
      for (const hit of results) {
        const known = persona.memories.get(hit.id)
        assert.is(hit.content, known?.content)
        assert.equal([hit.persona_id, hit.user_id], [id, persona.owner])
      }
      const told = [...persona.memories.values()].filter(({ content }) => content.includes(word))
      assert.ok(results.length >= told.length, 'every memory with the word is found')
      return
    }
    case 'wipe':
      assert.is((await ask(wipeMemories, { id })).deleted, persona.memories.size)
      persona.memories.clear()
      return
    case 'wipe category': {
      const { deleted } = await ask(wipeMemories, { id, category })
      assert.is(
        deleted,
        forget(persona, (memory) => memory.category === category),
      )
      return
    }
    case 'wipe before': {
      const before = step.flag ? Date.now() + 60_000 : 1000
      const { deleted } = await ask(wipeMemories, { id, before, category })
      assert.is(deleted, step.flag ? forget(persona, (memory) => memory.category === category) : 0)
      return
    }
    case 'limit':
      await ask(updatePersona, { id, memory_settings: { max_memories: step.flag ? 3 : 1000 } })
      return adjust(persona, (await ask(listMemories, { id, limit: 1000 })).memories)
    case 'remove':
      await ask(removePersona, { id })
      world.personas = world.personas.filter((other) => other !== persona)
      for (const session of world.sessions) if (session.persona === id) session.persona = undefined
      return
    case 'back up': {
      const { backup_id, memories } = await ask(backUpPersona, { id })
      assert.is(memories, persona.memories.size)
      persona.backups.push({ id: backup_id, memories: [...persona.memories.values()] })
      return
    }
    case 'restore': {
      // Any user's backup may be named; only the persona's own is found.
      const all = world.personas.flatMap((other) => other.backups.map((backup) => ({ other, backup })))
      const chosen = all[step.target % Math.max(1, all.length)]
      const backup_id = chosen?.backup.id ?? 'none'
      const asked = () => ask(restorePersona, { id, package: pieces(JSON.stringify({ backup_id })) })
      if (chosen?.other !== persona) return assert.is(await refusalOf(asked, 'forbidden'), 'not_found')
      await asked()
      persona.memories = new Map(
        (await ask(listMemories, { id, limit: 1000 })).memories.map((entry) => [entry.id, rememberedOf(entry)]),
      )
      return assert.equal(sorted(persona.memories.values()), sorted(chosen.backup.memories))
    }
    case 'export':
      return roundTrip(world, ask, persona)
    default:
      throw new Error(`unknown action ${step.action}`)
  }
}

/** A package holds the persona's memories and no others, and becomes a persona of the importing user. */
async function roundTrip(world: World, ask: Ask, persona: ModelPersona): Promise<void> {
  const { body } = await ask(exportPersona, { id: persona.id, include_embeddings: false })
  let text = ''
  for await (const piece of body as AsyncIterable<Uint8Array>) text += Buffer.from(piece).toString('utf8')
  const exported: { memories: { content: string }[] } = JSON.parse(text)
  assert.equal(
    exported.memories.map(({ content }) => content).sort(),
    [...persona.memories.values()].map(({ content }) => content).sort(),
  )
  const [taker] = world.users
  const { persona_id } = await taker!.ask(importPersona, { package: pieces(text) })
  const { memories } = await taker!.ask(listMemories, { id: persona_id, limit: 1000 })
  assert.ok(memories.every((entry) => entry.user_id === taker!.caller.id && entry.persona_id === persona_id))
  assert.equal(sorted(memories.map(rememberedOf)), sorted(persona.memories.values()))
  await taker!.ask(removePersona, { id: persona_id })
}

async function store(ask: Ask, persona: ModelPersona, memory: Remembered): Promise<void> {
  const { content, category, pinned, importance } = memory
  const metadata = { ...(category && { category }), pinned }
  const added = await ask(addMemory, { id: persona.id, content, importance_score: importance, metadata })
  const known = persona.memories.get(added.id)
  persona.memories.delete(added.id)
  persona.memories.set(added.id, {
    content,
    category: category || (known?.category ?? ''),
    pinned,
    importance: Math.max(importance, known?.importance ?? 0),
  })
  for (const { memory_id } of added.evicted) {
    assert.not.ok(persona.memories.get(memory_id)?.pinned, 'what is pinned stays')
    assert.ok(persona.memories.delete(memory_id), 'what went was of this persona')
  }
}

async function takeSession(world: World, named: User, step: Step): Promise<void> {
  if (step.action === 'begin session') {
    const persona = world.personas[step.target % Math.max(1, world.personas.length)]
    const { caller, ask } = step.user < 3 || !persona ? named : ownerOf(world, persona)
    const name = words[step.word]!
    const isTaken = world.sessions.some((session) => session.owner === caller.id && session.name === name)
    const asked = () => ask(createSession, { name, ...(persona && { persona: persona.id }) })
    if (persona && persona.owner !== caller.id) return assert.is(await refusalOf(asked), 'forbidden')
    if (isTaken) return assert.is(await refusalOf(asked, 'forbidden'), 'invalid')
    world.sessions.push({ id: (await asked()).id, owner: caller.id, name, persona: persona?.id })
    return
  }
  const session = world.sessions[step.target % Math.max(1, world.sessions.length)]
  if (!session) return
  const { caller, ask } = step.user < 3 ? named : ownerOf(world, session)
  const { id } = session
  const name = `renamed ${++world.count}`
  const asked =
    step.action === 'rename session' ? () => ask(renameSession, { id, name }) : () => ask(removeSession, { id })
  const refusal = await refusalOf(asked)
  assert.is(refusal, session.owner === caller.id ? undefined : 'forbidden')
  if (refusal) return
  if (step.action === 'rename session') session.name = name
  else world.sessions = world.sessions.filter((other) => other !== session)
}

/** The ways to look at a persona. */
const looks: readonly ((ask: Ask, id: string) => Promise<unknown>)[] = [
  (ask, id) => ask(showPersona, { id }),
  (ask, id) => ask(listMemories, { id }),
  (ask, id) => ask(searchMemories, { id, query: 'tea' }),
  (ask, id) => ask(listCategories, { id }),
  (ask, id) => ask(listEvictions, { id }),
  (ask, id) => ask(listBackups, { id }),
]

/** Every user sees exactly the memories that the model holds for them. */
async function compare(world: World): Promise<void> {
  for (const { caller, ask } of world.users) {
    const own = world.personas.filter(({ owner }) => owner === caller.id)
    const { personas } = await ask(listPersonas, {})
    assert.equal(personas.map(({ id }) => id).sort(), own.map(({ id }) => id).sort())
    const { sessions } = await ask(listSessions, {})
    assert.equal(
      sessions.map(({ id, name, persona_id }) => [id, name, persona_id]).sort(),
      world.sessions
        .filter(({ owner }) => owner === caller.id)
        .map(({ id, name, persona }) => [id, name, persona])
        .sort(),
    )
    for (const persona of world.personas) {
      if (persona.owner === caller.id) await comparePersona(ask, persona)
      else for (const look of looks) assert.is(await refusalOf(() => look(ask, persona.id)), 'forbidden')
    }
    for (const { id, owner } of world.sessions)
      if (owner !== caller.id) assert.is(await refusalOf(() => ask(showSession, { id })), 'forbidden')
  }
}

async function comparePersona(ask: Ask, persona: ModelPersona): Promise<void> {
  const { id } = persona
  const { memories, total } = await ask(listMemories, { id, limit: 1000 })
  assert.is(total, persona.memories.size)
  assert.equal(
    memories.map((entry): [string, Remembered] => [entry.id, rememberedOf(entry)]).sort(byId),
    [...persona.memories].sort(byId),
  )
  assert.ok(memories.every((entry) => entry.user_id === persona.owner && entry.persona_id === id))
  const counts = new Map<string, number>()
  for (const { category } of persona.memories.values()) counts.set(category, (counts.get(category) ?? 0) + 1)
  assert.equal(
    pluck((await ask(listCategories, { id })).categories, 'category', 'count'),
    [...counts].sort(([one], [other]) => (one < other ? -1 : 1)),
  )
  const backups = (await ask(listBackups, { id })).backups.filter(({ reason }) => reason === 'manual')
  assert.equal(backups.map(({ backup_id }) => backup_id).sort(), persona.backups.map((backup) => backup.id).sort())
}

/** Memories under the smaller limit: a subset of the earlier ones, with all pinned ones. */
function adjust(persona: ModelPersona, left: readonly { readonly id: string }[]): void {
  const ids = new Set(left.map(({ id }) => id))
  for (const id of ids) assert.ok(persona.memories.has(id))
  forget(persona, ({ pinned }, id) => {
    const gone = !ids.has(id)
    assert.not.ok(gone && pinned, 'what is pinned stays')
    return gone
  })
}

function forget(persona: ModelPersona, chosen: (memory: Remembered, id: string) => boolean): number {
  const ids = [...persona.memories].filter(([id, memory]) => chosen(memory, id)).map(([id]) => id)
  for (const id of ids) persona.memories.delete(id)
  return ids.length
}

function rememberedOf(entry: {
  readonly content: string
  readonly importance_score: number
  readonly metadata: Readonly<Record<string, unknown>>
}): Remembered {
  const { category = '', pinned = false } = entry.metadata
  return {
    content: entry.content,
    category: String(category),
    pinned: pinned === true,
    importance: entry.importance_score,
  }
}

function sorted(memories: Iterable<Remembered>): string[] {
  return [...memories].map((memory) => JSON.stringify(memory)).sort()
}

function byId([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** The code of the refusal; undefined when there was none. Where `only` is named, that code is thrown on. */
async function refusalOf(work: () => Promise<unknown>, only?: string): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (reason) {
    if (!(reason instanceof AppError) || reason.code === only) throw reason
    return reason.code
  }
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
