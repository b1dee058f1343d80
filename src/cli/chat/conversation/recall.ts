/** What a persona's memory had to do with an answer. */
export interface Recall {
  readonly persona: string
  readonly memories: readonly { readonly id: string; readonly score: number }[]
  /** Parts of the question that became memories. */
  readonly kept: number
  /** The memories that a wish to forget may mean, and that wait for a yes. */
  readonly forget: readonly string[]
}
