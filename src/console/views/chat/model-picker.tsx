import { useState } from 'preact/hooks'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Empty, Problem } from '../../components/notice.tsx'
import { count, shortCount } from '../../page/format.ts'
import { ask } from '../../wire/client.ts'
import type { ChatModel, Price } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'

interface ModelPickerProps {
  /** The name of the chosen one, '' for the default. */
  readonly chosen: string
  readonly onChoose: (name: string) => void
  readonly onClose: () => void
}

/** The most models that are listed at once: the search finds the others. */
const mostShown = 100

/** A choice among the models that can answer: how much each reads, what it costs, and what it takes and does. */
export function ModelPicker({ chosen, onChoose, onClose }: ModelPickerProps) {
  const [search, setSearch] = useState('')
  const { value, problem } = useData(
    (signal) =>
      Promise.all([
        ask<{ models: readonly ChatModel[] }>('GET', '/api/chat/models', { signal }),
        ask<{ prices: readonly Price[] }>('GET', '/api/prices', { signal }),
      ]),
    [],
  )
  const [{ models = [] } = {}, { prices = [] } = {}] = value ?? []
  const words = search.toLowerCase().split(/\s+/)
  const found = models.filter((model) => {
    const text = `${model.id} ${model.plugin ?? 'this machine'} ${model.display_name ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const choose = (name: string) => {
    onChoose(name)
    onClose()
  }
  return (
    <Dialog title="Choose a model" onClose={onClose} isWide>
      <TextField label="Search" type="search" value={search} onInput={setSearch} isFirst />
      <Problem of={problem} />
      {value && found.length === 0 && <Empty title="No model is called so" />}
      <ul class="model-list">
        {search === '' && (
          <ModelRow
            name=""
            title="The default model"
            facts="of the active provider"
            isChosen={chosen === ''}
            onChoose={choose}
          />
        )}
        {found.slice(0, mostShown).map((model) => (
          <ModelRow
            key={model.id}
            name={model.id}
            title={model.display_name ?? model.id}
            facts={[model.display_name && model.id, ...factsOf(model), priceOf(model, prices)]
              .filter(Boolean)
              .join(' · ')}
            isChosen={model.id === chosen}
            onChoose={choose}
          />
        ))}
      </ul>
      {found.length > mostShown && (
        <p class="muted">{count(found.length - mostShown)} more: search for a part of the name.</p>
      )}
    </Dialog>
  )
}

interface ModelRowProps {
  readonly name: string
  readonly title: string
  readonly facts: string
  readonly isChosen: boolean
  readonly onChoose: (name: string) => void
}

function ModelRow({ name, title, facts, isChosen, onChoose }: ModelRowProps) {
  return (
    <li>
      <button type="button" aria-pressed={isChosen} onClick={() => onChoose(name)}>
        <strong dir="auto">{title}</strong>
        <span class="muted">{facts}</span>
      </button>
    </li>
  )
}

function factsOf(model: ChatModel): readonly (string | false | undefined)[] {
  const { context_window: window, images, pdf, audio, tools, thinking, retired } = model
  return [
    model.plugin === null && 'on this machine',
    window !== undefined && `reads ${shortCount(window)} tokens`,
    images && 'sees pictures',
    pdf && 'reads PDFs',
    audio && 'hears',
    tools && 'calls tools',
    thinking && 'thinks first',
    retired !== undefined && `retired ${retired}`,
  ]
}

/** The first price that is for a model, which is the one that counts: `$2.50 in, $10 out per million tokens`. */
function priceOf({ id, plugin }: ChatModel, prices: readonly Price[]): string | undefined {
  const name = plugin !== null && id.startsWith(`${plugin}:`) ? id.slice(plugin.length + 1) : id
  const price = prices.find((each) => each.plugin === plugin && isFor(each.model, name))
  const { input, output } = price?.rates ?? {}
  return input !== undefined && output !== undefined ? `$${input} in, $${output} out per million tokens` : undefined
}

/** Whether a pattern of prices is for a model: `*` stands for any text, `#` for a digit. One with several `*` shows no price. */
function isFor(pattern: string, model: string): boolean {
  const [start = '', end, ...more] = pattern.split('*')
  if (end === undefined) return isSpelled(pattern, model)
  if (more.length > 0 || model.length < start.length + end.length) return false
  return isSpelled(start, model.slice(0, start.length)) && isSpelled(end, model.slice(model.length - end.length))
}

function isSpelled(pattern: string, text: string): boolean {
  const isSame = (letter: string, at: number) => letter === text[at] || (letter === '#' && /\d/.test(text[at]!))
  return pattern.length === text.length && [...pattern].every(isSame)
}
