import { z } from 'zod'
import { meantBy, profileLimits, profileLine, profileSlots } from '../personas/personas.ts'
import { backups, backupsField, ofPersona } from './memories.ts'
import { defineOperation } from './operation.ts'
import { mayRemainIn, remains } from './remains.ts'

const personaId = z.object({ id: z.string() })

/** A line without the digest, which is for the program alone. */
const line = profileLine.omit({ memory_digest: true })

type Line = z.output<typeof line>

function shown({ memory_digest: _digest, ...fields }: Line & { readonly memory_digest?: string }): Line {
  return fields
}

const slot = z.exactOptional(z.enum(profileSlots))
/** Its bounds are stated in one sentence by the profile itself. */
const text = z.string().max(10 * profileLimits.characters, `must have at most ${profileLimits.characters} characters`)

export const showProfile = defineOperation({
  name: 'profile.show',
  route: 'GET /api/personas/:id/profile',
  ...ofPersona,
  summary: "Shows a persona's profile: what always holds for its user, and stands in every prompt.",
  input: z.strictObject({ id: z.string(), history: z.exactOptional(z.union([z.boolean(), z.stringbool()])) }),
  output: z.object({
    lines: z.array(line),
    /** Lines whose place others took, oldest first; on request. */
    history: z.exactOptional(z.array(line)),
  }),
  run: async ({ app }, { history }, persona) => {
    const profile = await (await app.personas()).profiles.read(persona)
    return { lines: profile.lines.map(shown), ...(history && { history: profile.history.map(shown) }) }
  },
})

export const addProfileLine = defineOperation({
  name: 'profile.add',
  route: 'POST /api/personas/:id/profile',
  ...ofPersona,
  status: 201,
  summary: 'Adds a line to the profile; it takes the place of an earlier one on the same subject.',
  input: z.strictObject({ id: z.string(), slot, text }),
  output: line,
  run: async ({ app }, { id: _id, ...input }, persona) =>
    shown(await (await app.personas()).profiles.add(persona, input)),
})

const lineId = personaId.extend({ line_id: z.string() })

export const editProfileLine = defineOperation({
  name: 'profile.edit',
  failures: [404],
  route: 'PATCH /api/personas/:id/profile/:line_id',
  ...ofPersona,
  summary: 'Changes a line of the profile; the earlier text goes to the history.',
  input: lineId.extend({ slot, text: z.exactOptional(text) }),
  output: line,
  run: async ({ app }, { id: _id, line_id, ...change }, persona) =>
    shown(await (await app.personas()).profiles.edit(persona, line_id, change)),
})

export const removeProfileLine = defineOperation({
  name: 'profile.remove',
  failures: [404],
  route: 'DELETE /api/personas/:id/profile/:line_id',
  ...ofPersona,
  summary: "Removes a line of the profile for good, also from its history and the persona's backups.",
  input: lineId,
  output: z.object({ deleted: z.literal(1), backups }),
  run: async ({ app }, { line_id }, persona) => ({
    deleted: 1 as const,
    ...backupsField(await (await app.personas()).profiles.remove(persona, [line_id])),
  }),
})

export const forgetMemories = defineOperation({
  name: 'memories.forget',
  route: 'POST /api/personas/:id/memory/forget',
  ...ofPersona,
  audited: true,
  summary:
    'Names the memories and lines of the profile that a wish to forget means; with `confirm` removes them for good.',
  input: z.strictObject({
    id: z.string(),
    /** Such as "my birthday", or "forget what I said about Anna", in any of 15 languages. */
    text: z.string().trim().min(1).max(4_000),
    confirm: z.exactOptional(z.boolean()),
  }),
  output: z.object({
    memories: z.array(z.object({ id: z.string(), content: z.string() })),
    lines: z.array(z.object({ id: z.string(), text: z.string() })),
    deleted: z.int(),
    may_remain_in: mayRemainIn,
  }),
  run: async ({ app, caller, signal }, { text: wish, confirm }, persona) => {
    const { memories, profiles } = await app.personas()
    const { lines: all } = await profiles.read(persona)
    const meant = await meantBy(memories, persona, all, wish, signal)
    const found = {
      memories: meant.memories.map(({ entry: { id, content } }) => ({ id, content })),
      lines: meant.lines.map(({ id, text }) => ({ id, text })),
    }
    if (!confirm) return { ...found, deleted: 0 }
    await memories.forget(
      persona.user_id,
      persona.id,
      found.memories.map(({ id }) => id),
    )
    // Those that came from these memories went with them.
    const left = new Set((await profiles.read(persona)).lines.map(({ id }) => id))
    const rest = found.lines.map(({ id }) => id).filter((id) => left.has(id))
    if (rest.length > 0) await profiles.remove(persona, rest)
    const deleted = found.memories.length + found.lines.length
    return { ...found, deleted, ...(deleted > 0 && { may_remain_in: await remains(app, caller.id, persona.id) }) }
  },
})

export const profileOperations = [showProfile, addProfileLine, editProfileLine, removeProfileLine, forgetMemories]
