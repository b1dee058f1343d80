import { Problem } from '../../components/notice.tsx'
import { Time } from '../../components/time.tsx'
import { percent } from '../../page/format.ts'
import { ask, path, Refused } from '../../wire/client.ts'
import type { Memory, Persona } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { isPinned } from '../personas/memories/memory-row.tsx'

interface UsedMemoriesProps {
  readonly persona: Persona
  readonly used: readonly { readonly id: string; readonly score: number }[]
}

/** The memories that went into an answer, best first, and how likely each one was to help. */
export function UsedMemories({ persona, used }: UsedMemoriesProps) {
  const { value, problem } = useData<readonly (Memory | undefined)[]>(
    (signal) => Promise.all(used.map(({ id }) => memoryOf(persona.id, id, signal))),
    [used],
  )
  return (
    <div class="used">
      <Problem of={problem} />
      <ol>
        {used.map(({ id, score }, at) => {
          const memory = value?.[at]
          return (
            <li key={id}>
              <p class="text">{value && !memory ? 'This memory is gone.' : (memory?.content.slice(0, 400) ?? '…')}</p>
              <p class="muted row">
                <span>{memory && isPinned(memory) ? 'pinned, always there' : `likely to help: ${percent(score)}`}</span>
                {memory && <Time at={memory.timestamp} />}
              </p>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

/** A memory; undefined where it is gone meanwhile. */
async function memoryOf(persona: string, id: string, signal: AbortSignal): Promise<Memory | undefined> {
  try {
    return await ask<Memory>('GET', path`/api/personas/${persona}/memory/${id}`, { signal })
  } catch (reason) {
    if (reason instanceof Refused && reason.status === 404) return undefined
    throw reason
  }
}
