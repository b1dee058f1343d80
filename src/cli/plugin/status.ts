import { pluginStatus, testPlugin } from '../../operations/plugins.ts'
import { type Cli, show, table } from '../terminal/cli.ts'

/** Every plugin's state; with `check`, what a live call to each usable chat plugin gave. */
export async function showStatus(cli: Cli, check: boolean): Promise<void> {
  const { plugins } = await cli.ask(pluginStatus, {})
  const checked = new Map<string, string>()
  if (check) {
    for (const plugin of plugins) {
      if (plugin.state !== 'ready' || (plugin.type !== 'completion' && plugin.type !== 'chat')) continue
      const { ok, steps } = await cli.ask(testPlugin, { id: plugin.id })
      checked.set(plugin.id, ok ? 'ok' : (steps.find((step) => !step.ok)?.detail ?? 'failed'))
      if (!ok) cli.exit = 1
    }
  }
  const rows = plugins.map((plugin) => ({ ...plugin, ...(check && { check: checked.get(plugin.id) ?? null }) }))
  await show(cli, { plugins: rows }, () =>
    table(cli, rows, [
      ['ID', (row) => row.id],
      ['', (row) => (row.active ? 'active' : '')],
      ['STATE', (row) => row.state],
      ['KEY', (row) => (row.key_env ? `${row.key_env} ${row.key_set ? 'set' : 'not set'}` : 'none needed')],
      ['CIRCUIT', (row) => row.circuit],
      [check ? 'CHECK' : 'LAST ERROR', (row) => (check ? (checked.get(row.id) ?? '') : (row.last_error ?? ''))],
    ]),
  )
}
