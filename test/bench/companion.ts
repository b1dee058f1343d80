/** A companion: whether the user's words are in the prompt when they are asked for, at the first asking and later ones. */

import { wordsInPrompts } from './memory-parts/asked-again.ts'
import { companionFacts } from './memory-parts/companion-facts.ts'
import { print } from './memory-parts/scope.ts'

export async function bench(): Promise<void> {
  const counts = await wordsInPrompts(3)
  print(
    `the user's words in the prompt, first / second / third asking: ${counts.join(' / ')} of ${companionFacts.length}`,
  )
}
