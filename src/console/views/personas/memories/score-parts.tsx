import { percent } from '../../../page/format.ts'
import type { FoundMemory } from '../../../wire/types.ts'

const names = [
  ['lexical', 'words'],
  ['vector', 'meaning'],
  ['recency', 'recency'],
  ['importance', 'importance'],
  ['time', 'time'],
] as const

/** The parts of a memory's score, each as a bar with its number. */
export function ScoreParts({ parts }: { readonly parts: FoundMemory['parts'] }) {
  return (
    <ul class="parts" aria-label="Parts of the score">
      {names.map(([part, name]) => {
        const score = parts[part]
        if (score === undefined) return null
        const share = Math.max(0, Math.min(1, score))
        return (
          <li key={part}>
            <span>
              {name} {percent(share)}
            </span>
            <meter value={share} aria-label={name} />
          </li>
        )
      })}
    </ul>
  )
}
