import { z } from 'zod'

/** What a line of a profile is about; within most of them a new line on the same subject takes the place of the earlier one. */
export const profileSlots = [
  'address',
  'language',
  'manner',
  'allergy',
  'diet',
  'faith',
  'health',
  'people',
  'note',
] as const

export type ProfileSlot = (typeof profileSlots)[number]

/** A line of a persona's profile: what always holds for its user, in the user's words. */
export const profileLine = z.object({
  id: z.string(),
  slot: z.enum(profileSlots),
  /** The subject within the slot, such as `alcohol`: a later line on it takes the place of this one. '' for none. */
  about: z.string(),
  text: z.string(),
  /** How it came: by a rule, by the extracting model, or by hand. */
  by: z.enum(['rule', 'model', 'hand']),
  /** Milliseconds since 1970 UTC. */
  created_at: z.int(),
  memory_id: z.exactOptional(z.string()),
  /** The digest of that memory's text, by which a line goes with it also under another id, as after an import. */
  memory_digest: z.exactOptional(z.string()),
  /** When another line took its place; in the history alone. */
  ended_at: z.exactOptional(z.int()),
})
export type ProfileLine = Readonly<z.output<typeof profileLine>>
