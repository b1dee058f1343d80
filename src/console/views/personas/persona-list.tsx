import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Empty, Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { Time } from '../../components/time.tsx'
import { goTo, linkTo } from '../../page/route.ts'
import type { Persona } from '../../wire/types.ts'
import { useList } from '../../wire/use-data.ts'
import { ImportDialog } from './memories/import-dialog.tsx'
import { PersonaDialog } from './persona-dialog.tsx'

/** The personas of the logged-in user. */
export function PersonaList() {
  const [dialog, setDialog] = useState<'new' | 'import'>()
  const data = useList<Persona>('/api/personas', 'personas')
  return (
    <Page
      title="Personas"
      lead="Each one has a character, a memory, and what it has learned about you."
      actions={
        <>
          <Button icon="upload" onClick={() => setDialog('import')}>
            Import
          </Button>
          <Button kind="main" icon="add" onClick={() => setDialog('new')}>
            New persona
          </Button>
        </>
      }
    >
      <Problem of={data.problem} />
      {data.value?.length === 0 && (
        <Empty title="No persona yet">
          <p>Create one, or import a package, a character card, or an export of another program.</p>
        </Empty>
      )}
      <ul class="cards">
        {data.value?.map((persona) => (
          <li key={persona.id} class="card link-card">
            <h2 class="text">
              <a href={linkTo('personas', persona.id)}>{persona.name}</a>
            </h2>
            <p class="clamp text">{persona.description ?? persona.system_prompt ?? ''}</p>
            <p class="muted row between">
              <span class="line">{persona.model}</span>
              <Time at={persona.updated_at} />
            </p>
          </li>
        ))}
      </ul>
      {dialog === 'new' && (
        <PersonaDialog onClose={() => setDialog(undefined)} onSaved={({ id }) => goTo('personas', id)} />
      )}
      {dialog === 'import' && (
        <ImportDialog
          onClose={() => {
            setDialog(undefined)
            data.reload()
          }}
        />
      )}
    </Page>
  )
}
