import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Empty, Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import type { ViewProps } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask } from '../../wire/client.ts'
import type { Plugin, Status } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { Chat } from './chat.tsx'
import { Connect } from './connect.tsx'
import { ModelPicker } from './model-picker.tsx'

/** The model of the last chat, kept for the next visit. */
const storageKey = 'aichat.model'

/** A chat with a model alone; where no model can answer, the way to a provider. */
export function ChatView({ route }: ViewProps) {
  const { isAdmin } = useSession()
  const [model, setModel] = useState(localStorage.getItem(storageKey) ?? '')
  const [isChoosing, setChoosing] = useState(false)
  const data = useData(
    (signal) =>
      Promise.all([
        ask<Status>('GET', '/api/status', { signal }),
        ask<{ plugins: readonly Plugin[] }>('GET', '/api/plugins', { signal }),
      ]),
    [],
  )
  const [status, { plugins = [] } = {}] = data.value ?? []
  const usable = plugins.filter((plugin) => isForChats(plugin) && plugin.state === 'ready')
  const active = usable.find((plugin) => plugin.active)
  const standard = active && `${active.id}: ${active.default_model ?? active.model_map[0]}`
  // A provider with a key that is not active, as after a login that ended between the two, answers where it is chosen.
  const canAnswer =
    active !== undefined || (usable.length > 0 && model !== '') || status?.local_runner.reachable === true
  const choose = (name: string) => {
    setModel(name)
    localStorage.setItem(storageKey, name)
  }
  return (
    <Page
      title="Chat"
      actions={
        (canAnswer || usable.length > 0) && (
          <Button icon="edit" onClick={() => setChoosing(true)}>
            {`Model: ${(model || standard) ?? 'the default one'}`}
          </Button>
        )
      }
    >
      <Problem of={data.problem} />
      {data.value && !canAnswer && isAdmin && (
        <Connect plugins={plugins.filter(isForChats)} onConnected={data.reload} />
      )}
      {data.value && !canAnswer && !isAdmin && (
        <Empty title="No model can answer yet">
          <p>An administrator has to connect a provider first.</p>
        </Empty>
      )}
      {data.value && canAnswer && (
        <Chat
          partner={{ name: model === '' ? 'The model' : model, model, place: ['chat'] }}
          sessionId={route.rest[0]}
          route={route}
        />
      )}
      {isChoosing && <ModelPicker chosen={model} onChoose={choose} onClose={() => setChoosing(false)} />}
    </Page>
  )
}

function isForChats({ type }: Plugin): boolean {
  return type === 'chat' || type === 'completion'
}
