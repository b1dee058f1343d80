import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { goTo, linkTo, type Route } from '../../page/route.ts'
import { ask, path } from '../../wire/client.ts'
import type { Persona } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { Chat } from '../chat/chat.tsx'
import { Forgotten } from './forgotten.tsx'
import { Keeping } from './keeping.tsx'
import { Learned } from './learned.tsx'
import { Memories } from './memories/memories.tsx'
import { PersonaDialog } from './persona-dialog.tsx'

interface PersonaPageProps {
  readonly id: string
  readonly part: string
  readonly detail: string | undefined
  readonly route: Route
}

const parts = [
  ['chat', 'Chat'],
  ['memories', 'Memories'],
  ['learned', 'Learned'],
  ['forgotten', 'Forgotten'],
  ['keeping', 'Backup'],
] as const

/** A persona with its parts in tabs. */
export function PersonaPage({ id, part, detail, route }: PersonaPageProps) {
  const [dialog, setDialog] = useState<'edit' | 'remove'>()
  const data = useData<Persona>((signal) => ask('GET', path`/api/personas/${id}`, { signal }), [id])
  const persona = data.value
  return (
    <Page
      title={persona?.name ?? 'Persona'}
      lead={persona?.model}
      actions={
        persona && (
          <>
            <Button icon="edit" onClick={() => setDialog('edit')}>
              Edit
            </Button>
            <Button icon="trash" label="Delete the persona" onClick={() => setDialog('remove')} />
          </>
        )
      }
    >
      <Problem of={data.problem} />
      <Tabs
        label="Parts of the persona"
        tabs={parts.map(([name, title]) => [linkTo('personas', id, name), title, name === part])}
      />
      {persona && part === 'chat' && (
        <Chat
          partner={{ name: persona.name, persona, place: ['personas', id, 'chat'] }}
          sessionId={detail}
          route={route}
        />
      )}
      {persona && part === 'memories' && <Memories persona={persona} />}
      {persona && part === 'learned' && <Learned persona={persona} />}
      {persona && part === 'forgotten' && <Forgotten persona={persona} />}
      {persona && part === 'keeping' && <Keeping persona={persona} onRestored={data.reload} />}
      {persona && dialog === 'edit' && (
        <PersonaDialog persona={persona} onClose={() => setDialog(undefined)} onSaved={data.replace} />
      )}
      {persona && dialog === 'remove' && (
        <Confirm
          title={`Delete ${persona.name}?`}
          submit="Delete"
          work={() => ask('DELETE', path`/api/personas/${id}`)}
          onDone={() => goTo('personas')}
          onClose={() => setDialog(undefined)}
        >
          Its memories, what it has learned and its backups on this machine are deleted for good.
        </Confirm>
      )}
    </Page>
  )
}
