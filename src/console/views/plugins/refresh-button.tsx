import { Button } from '../../components/button.tsx'
import { tell } from '../../components/toasts.tsx'
import { count } from '../../page/format.ts'
import { ask, Refused } from '../../wire/client.ts'
import type { Refreshed } from '../../wire/types.ts'
import { type Action, useAction } from '../../wire/use-action.ts'

/** Has providers asked for the lists of their models; the lists before are kept as backups. */
export function useRefresh(plugin: string | undefined, onTaken: () => void): Action<[]> {
  return useAction(async () => {
    const body = plugin === undefined ? {} : { plugins: [plugin] }
    const { plugins } = await ask<{ plugins: readonly Refreshed[] }>('POST', '/api/models/refresh', { body })
    onTaken()
    const failed = plugins.filter(({ error }) => error !== null)
    if (failed.length > 0)
      throw new Refused(0, {
        error: 'Not all lists were taken',
        details: failed.map(({ plugin: id, error }) => `${id}: ${error}`),
      })
    const sum = (of: 'added' | 'removed') => plugins.reduce((total, row) => total + row[of].length, 0)
    const fetched = plugins.filter(({ skipped }) => skipped === null)
    tell(
      fetched.length === 0
        ? 'No plugin has a key, so no list can be fetched'
        : `${count(sum('added'))} models are new, ${count(sum('removed'))} are gone`,
    )
  })
}

export function RefreshButton({ action, label }: { readonly action: Action<[]>; readonly label: string }) {
  return (
    <Button icon="refresh" isBusy={action.isRunning} onClick={() => void action.run()}>
      {label}
    </Button>
  )
}
