import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Notice, Problem } from '../../components/notice.tsx'
import { tell } from '../../components/toasts.tsx'
import { count } from '../../page/format.ts'
import { ask } from '../../wire/client.ts'
import type { Refreshed } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'

interface RefreshDialogProps {
  /** The plugin to refresh; without one the lists of all plugins with a key. */
  readonly plugin?: string
  readonly onClose: () => void
  readonly onTaken: () => void
}

/** Fetches model lists from their providers and shows the difference before it is taken. */
export function RefreshDialog({ plugin, onClose, onTaken }: RefreshDialogProps) {
  const [isForced, setForced] = useState(false)
  const request = { ...(plugin !== undefined && { plugins: [plugin] }) }
  const { value, problem, isLoading } = useData<{ plugins: readonly Refreshed[] }>(
    (signal) => ask('POST', '/api/models/refresh', { body: { ...request, dry_run: true, force: isForced }, signal }),
    [isForced],
  )
  const rows = value?.plugins ?? []
  const changed = rows.filter(({ added, removed }) => added.length + removed.length > 0)
  const take = useAction(async () => {
    const body = { plugins: changed.map(({ plugin: id }) => id), force: isForced }
    await ask('POST', '/api/models/refresh', { body })
    tell('The new lists are in use; the old ones are kept as backups')
    onClose()
    onTaken()
  })
  return (
    <Dialog title="Refresh the models" onClose={onClose} isWide>
      {isLoading && <p class="muted">The providers are asked for their lists…</p>}
      <Problem of={problem ?? take.problem} />
      {value && rows.length === 0 && <Notice>No plugin has a key, so no list can be fetched.</Notice>}
      {rows.map((row) => (
        <Difference key={row.plugin} row={row} />
      ))}
      {rows.some(({ error }) => error !== null) && !isForced && (
        <Button onClick={() => setForced(true)}>Take implausible lists, too</Button>
      )}
      <div class="buttons end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" isDisabled={changed.length === 0} isBusy={take.isRunning} onClick={() => void take.run()}>
          Take the new lists
        </Button>
      </div>
    </Dialog>
  )
}

/** Names that are shown of a difference. */
const mostNames = 100

function Difference({
  row: { plugin, before, after, added, removed, skipped, error, warnings },
}: {
  readonly row: Refreshed
}) {
  return (
    <section class="section">
      <h3 class="text">{plugin}</h3>
      {skipped !== null && <p class="muted text">Skipped: {skipped}</p>}
      {error !== null && <Notice kind="warning">{error}</Notice>}
      {skipped === null && error === null && (
        <p class="muted">
          {count(before)} models before, {count(after)} now
          {added.length + removed.length === 0 && ': no difference'}
        </p>
      )}
      <ul class="names">
        {added.slice(0, mostNames).map((model) => (
          <li key={model} class="mono text added">
            + {model}
          </li>
        ))}
        {removed.slice(0, mostNames).map((model) => (
          <li key={model} class="mono text removed">
            − {model}
          </li>
        ))}
      </ul>
      {warnings.map((warning) => (
        <p key={warning} class="muted text">
          {warning}
        </p>
      ))}
    </section>
  )
}
