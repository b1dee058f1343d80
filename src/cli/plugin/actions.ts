import {
  activatePlugin,
  currentPlugin,
  deactivatePlugin,
  exportPlugin,
  installPlugin,
  listPlugins,
  pluginStatus,
  removePlugin,
  showPlugin,
  testPlugin,
  updatePlugin,
} from '../../operations/operations.ts'
import type { PluginKind, PluginManifest } from '../../plugins/plugins.ts'
import type { Cli } from '../terminal/cli.ts'
import { readObject } from '../terminal/fetched.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { writeOutput } from '../terminal/files.ts'
import { note, print, printJson, printRemoved } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { labelled, listing, table } from '../terminal/table.ts'
import { longestDocument } from './documents.ts'

export { validate } from './documents.ts'

interface KindOptions {
  readonly type?: PluginKind
}

export async function list(cli: Cli, { active, type }: { active?: boolean; type?: string }): Promise<void> {
  const { plugins, broken } = await cli.ask(listPlugins, {})
  const rows = plugins.filter((row) => (!active || row.active) && (!type || row.type === type))
  const none = active ? 'no plugin is active; activate one: aichat plugin activate ID' : 'no plugin is installed'
  await print(cli, { plugins: rows, broken }, () =>
    listing(cli, rows, none, [
      ['ID', (row) => row.id],
      ['', (row) => (row.active ? 'active' : '')],
      ['TYPE', (row) => row.type],
      ['STATE', stateOf],
      ['MODELS', (row) => String(row.model_map.length)],
      ['SOURCE', (row) => (row.overridden ? 'bundled, changed' : row.source)],
      ['NAME', (row) => row.name],
    ]),
  )
  for (const { id, problems } of broken) note(cli, `aichat: invalid plugin "${id}": ${problems.join('; ')}`)
}

export async function show(cli: Cli, id: string): Promise<void> {
  await print(cli, await cli.ask(showPlugin, { id }), pluginText)
}

export async function install(cli: Cli, source: string, { activate }: { activate?: boolean }): Promise<void> {
  const document = await readDocument(cli, source)
  const installed = await cli.ask(installPlugin, { ...fieldsOf(cli, installPlugin), document })
  noteAll(cli, installed.warnings)
  if (activate) noteAll(cli, (await cli.ask(activatePlugin, { id: installed.id })).warnings)
  await print(cli, activate ? { ...installed, active: true } : installed, () => installed.id)
}

export async function update(cli: Cli, id: string, file: string): Promise<void> {
  const updated = await cli.ask(updatePlugin, { id, document: await readDocument(cli, file) })
  noteAll(cli, updated.warnings)
  await print(cli, updated, () => updated.id)
}

export async function remove(cli: Cli, ids: readonly string[]): Promise<void> {
  for (const id of ids) await cli.ask(showPlugin, { id })
  await confirm(cli, `Remove ${ids.join(', ')}?`)
  const removed: { id: string; removed: true; restored: boolean }[] = []
  for (const id of ids) removed.push(await cli.ask(removePlugin, { id }))
  await printRemoved(cli, 'plugins', removed)
  for (const { id, restored } of removed) if (restored) note(cli, `aichat: ${id} is restored as shipped`)
}

export async function activate(cli: Cli, id: string): Promise<void> {
  const activated = await cli.ask(activatePlugin, { id })
  await print(cli, activated, () => activated.id)
  noteAll(cli, activated.warnings)
}

export async function deactivate(cli: Cli, { type }: KindOptions): Promise<void> {
  const { deactivated } = await cli.ask(deactivatePlugin, fieldsOf(cli, deactivatePlugin))
  await print(cli, { deactivated }, () => deactivated ?? '')
  if (deactivated === null) noteNoneActive(cli, type)
}

export async function current(cli: Cli, { type }: KindOptions): Promise<void> {
  const active = await cli.ask(currentPlugin, fieldsOf(cli, currentPlugin))
  await print(cli, active, (plugin) => plugin?.id ?? '')
  if (!active) noteNoneActive(cli, type)
}

/** Prints each plugin's state; with `check`, the outcome of a request to each usable chat plugin. */
export async function status(cli: Cli, { check }: { check?: boolean }): Promise<void> {
  const { plugins } = await cli.ask(pluginStatus, {})
  const checked = new Map<string, string>()
  for (const { id, state, type } of check ? plugins : []) {
    if (state !== 'ready' || (type !== 'completion' && type !== 'chat')) continue
    const { ok, steps } = await cli.ask(testPlugin, { id })
    checked.set(id, ok ? 'ok' : (steps.find((step) => !step.ok)?.detail ?? 'failed'))
    if (!ok) cli.exit = 1
  }
  const rows = plugins.map((plugin) => ({ ...plugin, ...(check && { check: checked.get(plugin.id) ?? null }) }))
  await print(cli, { plugins: rows }, () =>
    table(cli, rows, [
      ['ID', (row) => row.id],
      ['', (row) => (row.active ? 'active' : '')],
      ['STATE', (row) => row.state],
      ['KEY', (row) => (row.key_env ? `${row.key_env} ${row.key_set ? 'set' : 'not set'}` : 'none needed')],
      ['CIRCUIT', (row) => row.circuit],
      [check ? 'CHECK' : 'LAST ERROR', (row) => (check ? (row.check ?? '') : (row.last_error ?? ''))],
    ]),
  )
}

export async function exportDocument(
  cli: Cli,
  id: string,
  { output, force }: { output?: string; force?: boolean },
): Promise<void> {
  const document = await cli.ask(exportPlugin, { id })
  if (!output || output === '-') return printJson(cli, document)
  await writeOutput(output, `${JSON.stringify(document, null, 2)}\n`, force === true)
}

export async function test(cli: Cli, id: string): Promise<void> {
  const result = await cli.ask(testPlugin, { id })
  await print(cli, result, ({ steps }) =>
    steps.map(({ step, ok, detail }) => `${ok ? 'ok    ' : 'failed'}  ${step}: ${detail}`).join('\n'),
  )
  if (!result.ok) cli.exit = 1
}

function readDocument(cli: Cli, source: string) {
  return readObject(cli, source, longestDocument, 'plugin') as Promise<Record<string, unknown>>
}

function noteNoneActive(cli: Cli, type: PluginKind = 'chat'): void {
  if (!cli.globals().json && !cli.globals().plain) note(cli, `aichat: no plugin of type ${type} is active`)
}

function noteAll(cli: Cli, warnings: readonly string[]): void {
  for (const warning of warnings) note(cli, `aichat: ${warning}`)
}

function stateOf({ state, auth }: { readonly state: string; readonly auth: { readonly key_env: string } }): string {
  return state === 'key_missing' ? `needs ${auth.key_env}` : state
}

function pluginText(
  plugin: PluginManifest & { active: boolean; state: string; source: string; overridden: boolean },
): string {
  const { auth, status, model_map: models, models_as_of: date, default_model: model } = plugin
  const since = status?.since ? ` (${status.state} since ${status.since})` : ''
  return labelled([
    ['id', plugin.id],
    ['name', plugin.name],
    ['type', plugin.type],
    ['state', `${stateOf(plugin)}${plugin.active ? ', active' : ''}${since}`],
    ['source', `${plugin.source}${plugin.overridden ? ', changed' : ''}`],
    ['endpoint', plugin.endpoint],
    ['key', auth.key_env ? `${auth.key_env}, sent as ${auth.header}: ${auth.prefix ?? ''}…` : 'none needed'],
    ['models', `${models.length}${date ? `, as of ${date}` : ''}; default ${model ?? models[0]}`],
    ['documentation', plugin.documentation_url],
    ['description', plugin.description],
  ])
}
