import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { numberColumn, stateColumn, textColumn } from '../../components/columns.tsx'
import { Listing } from '../../components/listing.tsx'
import { bytes } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import { events } from '../../wire/events.ts'
import type { KnownModel, Model, PullPiece } from '../../wire/types.ts'
import { useList } from '../../wire/use-data.ts'

/** The models on this machine, and those that it can pull. */
export function LocalModels() {
  const [piece, setPiece] = useState<PullPiece>()
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const installed = useList<Model>('/api/models', 'models', { installed: true })
  const known = useList<KnownModel>('/api/models/known', 'models')
  const reload = () => {
    installed.reload()
    known.reload()
  }
  const pull = async ({ name }: KnownModel) => {
    stop.current = new AbortController()
    const { signal } = stop.current
    try {
      const pieces = events('/api/models/pull', { body: { name, stream: true }, signal })
      for await (const next of pieces) setPiece(next as PullPiece)
      return `${name} is on this machine`
    } catch (reason) {
      if (signal.aborted) return 'Stopped; the next pull goes on from there'
      throw reason
    } finally {
      setPiece(undefined)
    }
  }
  return (
    <>
      <Listing<Model>
        title="On this machine"
        data={{ ...installed, reload }}
        keyOf={({ name }) => name}
        empty={['No model on this machine', 'Pull one below, or start Ollama.']}
        columns={[
          textColumn('Model', ({ id }) => id),
          textColumn('Kind', ({ type }) => type),
          textColumn('Run by', ({ runner }) => (runner === 'embedded' ? 'aichat' : runner)),
          numberColumn('Size', ({ bytes: size }) => size, bytes),
          stateColumn('Use', (model) => (model.default ? 'default' : 'by name'), { default: 'good' }),
        ]}
        actions={[
          {
            icon: 'trash',
            label: ({ id }) => `Remove ${id}`,
            isFor: ({ runner }) => runner !== 'ollama',
            work: ({ id }) => ask('DELETE', path`/api/models/${id}`),
            confirm: ['Remove', () => 'Chats, personas and voices that use it fail until it is pulled again.'],
          },
        ]}
      >
        <p class="muted">Those of Ollama are pulled and removed with Ollama itself.</p>
      </Listing>
      <Listing<KnownModel>
        title="To pull"
        data={{ ...known, reload, value: known.value?.filter((model) => !model.installed) }}
        keyOf={({ name }) => name}
        empty={['All of them are on this machine']}
        columns={[
          textColumn('Model', ({ name }) => name),
          textColumn('Kind', ({ kind }) => kind),
          { name: 'Description', of: ({ summary }) => summary, value: ({ summary }) => summary },
          textColumn('Licence', ({ licence }) => licence, { isExtra: true }),
        ]}
        actions={[{ icon: 'download', label: ({ name }) => `Pull ${name}`, work: pull }]}
      >
        <p class="muted">
          Files for non-commercial use only are left out: <code>aichat models pull</code> asks about them.
        </p>
        {piece && <Progress piece={piece} onStop={() => stop.current.abort()} />}
      </Listing>
    </>
  )
}

/** How far a pull is; the next one of a stopped pull goes on from there. */
function Progress({ piece, onStop }: { readonly piece: PullPiece; readonly onStop: () => void }) {
  const { file = '', received = 0, total = 0 } = 'progress' in piece ? piece.progress : {}
  return (
    <div class="row between" role="status">
      <progress max={1} value={total > 0 ? received / total : undefined} aria-label="Progress of the pull" />
      <span class="muted text">
        {total > 0 ? `${file}: ${bytes(received)} of ${bytes(total)}` : 'Another pull of it is waited for'}
      </span>
      <Button icon="stop" onClick={onStop}>
        Stop
      </Button>
    </div>
  )
}
