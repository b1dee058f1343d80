import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../../components/badge.tsx'
import { Empty, Problem } from '../../../components/notice.tsx'
import { percent } from '../../../page/format.ts'
import { ask, path } from '../../../wire/client.ts'
import type { FoundMemory, Memory, Persona } from '../../../wire/types.ts'
import { useData } from '../../../wire/use-data.ts'
import { MemoryRow } from './memory-row.tsx'
import { ScoreParts } from './score-parts.tsx'

interface FoundMemoriesProps {
  readonly persona: Persona
  readonly query: string
  /** Another number after each change of a memory. */
  readonly version: number
  readonly onOpen: (memory: Memory) => void
}

/** How long the search waits for the next key: milliseconds. */
const restMs = 150

/** The memories that a search finds, best first, each with the parts of its score. */
export function FoundMemories({ persona, query, version, onOpen }: FoundMemoriesProps) {
  const [settled, setSettled] = useState(query)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), restMs)
    return () => clearTimeout(timer)
  }, [query])
  const { value, problem } = useData<{ results: readonly FoundMemory[]; mode: 'hybrid' | 'lexical' }>(
    (signal) =>
      ask('POST', path`/api/personas/${persona.id}/memory/search`, { body: { query: settled, limit: 50 }, signal }),
    [settled, version],
  )
  return (
    <>
      <Problem of={problem} />
      {value?.mode === 'lexical' && <p class="muted">Searched by words alone: no embedding model answers.</p>}
      {value?.results.length === 0 && <Empty title="Nothing found" />}
      <ul class="found">
        {value?.results.map((found) => (
          <li key={found.id}>
            <MemoryRow memory={found} onOpen={() => onOpen(found as unknown as Memory)}>
              <div class="score">
                <Badge tone={found.relevant ? 'good' : 'plain'}>
                  {found.relevant ? 'likely to help' : 'unlikely to help, left out'}: {percent(found.score)}
                </Badge>
                <ScoreParts parts={found.parts} />
              </div>
            </MemoryRow>
          </li>
        ))}
      </ul>
    </>
  )
}
