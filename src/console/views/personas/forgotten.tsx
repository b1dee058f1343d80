import { numberColumn, textColumn, timeColumn } from '../../components/columns.tsx'
import { Listing } from '../../components/listing.tsx'
import { percent } from '../../page/format.ts'
import { path } from '../../wire/client.ts'
import type { Eviction, Persona } from '../../wire/types.ts'
import { useList } from '../../wire/use-data.ts'

const reasons = { max_memories: 'there were too many', retention_days: 'it was too old' } as const

/** The memories that made room for others, without their texts, which are gone. */
export function Forgotten({ persona }: { readonly persona: Persona }) {
  return (
    <Listing<Eviction>
      title="Forgotten"
      data={useList(path`/api/personas/${persona.id}/memory/evictions`, 'evictions')}
      keyOf={({ memory_id }) => memory_id}
      empty={['Nothing was forgotten', 'Memories leave when there are more than the persona keeps, or by their age.']}
      columns={[
        timeColumn('Forgotten', ({ evicted_at }) => evicted_at),
        timeColumn('Remembered', ({ timestamp }) => timestamp),
        textColumn('Because', ({ reason }) => reasons[reason]),
        numberColumn('Importance', ({ importance_score }) => importance_score, percent),
      ]}
    />
  )
}
