import { fixture } from '../fixture.ts'

type Texts = Readonly<Record<string, readonly string[]>>

export const { heldOut, hardEnglish, short } = fixture<{
  /** Ten sentences of each of twenty languages: nothing was fitted on them. */
  readonly heldOut: Texts
  /** English that detectors take for something else: names, loan words, places, titles, addresses and notes. */
  readonly hardEnglish: readonly string[]
  /** Texts of one to three words. They count as English where they could be either. */
  readonly short: Texts
}>('language-samples.json')
