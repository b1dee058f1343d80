/** One thing that answers chats, and how it is asked. */
export interface Contestant {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly pid: number | undefined
  /** The user's words, where they are others than those of all. */
  readonly question?: string
  /** Fields of its requests beside those of all. */
  readonly fields?: Readonly<Record<string, unknown>>
}
