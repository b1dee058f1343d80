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
export interface ProfileLine {
  readonly id: string
  readonly slot: ProfileSlot
  /** The subject within the slot, such as `alcohol`: a later line on it takes the place of this one. '' for none. */
  readonly about: string
  readonly text: string
  /** How it came: by a rule, by the extracting model, or by hand. */
  readonly by: 'rule' | 'model' | 'hand'
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
  /** The memory that it comes from. */
  readonly memory_id?: string
  /** The digest of that memory's text, by which a line goes with it also under another id, as after an import. */
  readonly memory_digest?: string
  /** When another line took its place; in the history alone. */
  readonly ended_at?: number
}
