import { useState } from 'preact/hooks'
import { TextField } from '../../components/field.tsx'
import { Empty, Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { modelFacts } from '../../page/format.ts'
import { linkTo, type ViewProps } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask } from '../../wire/client.ts'
import type { ChatModel, Plugin, Status } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { Chat } from './chat.tsx'
import { Connect } from './connect.tsx'

/** The model of the last chat, kept for the next visit. */
const storageKey = 'aichat.model'

/** A chat with a model alone; where no model can answer, the way to a provider. */
export function ChatView({ route }: ViewProps) {
  const { isAdmin } = useSession()
  const [model, setModel] = useState(localStorage.getItem(storageKey) ?? '')
  const data = useData(
    (signal) =>
      Promise.all([
        ask<Status>('GET', '/api/status', { signal }),
        ask<{ plugins: readonly Plugin[] }>('GET', '/api/plugins', { signal }),
        ask<{ models: readonly ChatModel[] }>('GET', '/api/chat/models', { signal }),
      ]),
    [],
  )
  const [status, { plugins = [] } = {}, { models = [] } = {}] = data.value ?? []
  const usable = plugins.filter((plugin) => isForChats(plugin) && plugin.state === 'ready')
  const offered = models.filter(({ id }) => usable.some((plugin) => id.startsWith(`${plugin.id}:`)))
  const active = usable.find((plugin) => plugin.active)
  const standard = active && (active.default_model ?? active.model_map[0])
  const chosen = offered.find(({ id }) => id === model)
  const canAnswer = usable.length > 0 || status?.local_runner.reachable === true
  const choose = (name: string) => {
    setModel(name)
    localStorage.setItem(storageKey, name)
  }
  return (
    <Page title="Chat">
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
        <>
          <div class="model-choice">
            <TextField
              label="Model"
              value={model}
              onInput={choose}
              placeholder={active ? `${active.id}:${standard}` : 'the default model'}
              hint={chosen ? modelFacts(chosen) : isAdmin && <a href={linkTo('plugins')}>Providers and their keys</a>}
              list="models-for-chats"
            />
            <datalist id="models-for-chats">
              {offered.map((each) => (
                <option key={each.id} value={each.id} label={modelFacts(each)} />
              ))}
            </datalist>
          </div>
          <Chat
            partner={{ name: model === '' ? 'The model' : model, model: model.trim(), place: ['chat'] }}
            sessionId={route.rest[0]}
          />
        </>
      )}
    </Page>
  )
}

function isForChats({ type }: Plugin): boolean {
  return type === 'chat' || type === 'completion'
}
