import { useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { Empty, Problem } from '../../../components/notice.tsx'
import { VirtualList } from '../../../components/virtual-list.tsx'
import { count } from '../../../page/format.ts'
import type { Memory, Persona } from '../../../wire/types.ts'
import { FoundMemories } from './found-memories.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { MemoryDialog } from './memory-dialog.tsx'
import { MemoryRow } from './memory-row.tsx'
import { Profile } from './profile.tsx'
import { useMemories } from './use-memories.ts'

/** Pixels of a row: two lines of text and one of facts. */
const rowHeight = 84

/** The memories of a persona: all of them, newest first, or those that a search finds. */
export function Memories({ persona }: { readonly persona: Persona }) {
  const [query, setQuery] = useState('')
  const [dialog, setDialog] = useState<Memory | 'new' | 'import'>()
  const memories = useMemories(persona.id)
  const close = () => setDialog(undefined)
  return (
    <>
      <Profile persona={persona} />
      <div class="row search">
        <input
          class="input grow"
          type="search"
          aria-label="Search the memories"
          placeholder="Search by words and by meaning"
          dir="auto"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <Button icon="upload" onClick={() => setDialog('import')}>
          Import
        </Button>
        <Button kind="main" icon="add" onClick={() => setDialog('new')}>
          Add
        </Button>
      </div>
      <Problem of={memories.problem} />
      {query.trim() !== '' ? (
        <FoundMemories persona={persona} query={query.trim()} version={memories.version} onOpen={setDialog} />
      ) : memories.total === 0 ? (
        <Empty title="No memory yet">
          <p>They come from chats, or you add and import them here.</p>
        </Empty>
      ) : (
        <>
          <p class="muted">{memories.total === undefined ? '' : `${count(memories.total)} memories, newest first`}</p>
          <VirtualList
            label="Memories"
            total={memories.total ?? 0}
            rowHeight={rowHeight}
            onRange={memories.want}
            row={(index) => {
              const memory = memories.at(index)
              return memory ? <MemoryRow memory={memory} onOpen={() => setDialog(memory)} /> : <p class="muted">…</p>
            }}
          />
        </>
      )}
      {dialog === 'import' && (
        <ImportDialog
          persona={persona}
          onClose={() => {
            close()
            memories.reload()
          }}
        />
      )}
      {dialog !== undefined && dialog !== 'import' && (
        <MemoryDialog
          persona={persona}
          {...(dialog !== 'new' && { memory: dialog })}
          onClose={close}
          onChanged={memories.reload}
        />
      )}
    </>
  )
}
