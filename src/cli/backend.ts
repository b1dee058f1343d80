import { openApp } from '../app.ts'
import { askInProcess, localOwner } from '../operations/ask.ts'
import type { Backend, Cli } from './cli.ts'

/** The core in this process, on the data folder, guarded by the folder's own permissions. */
export async function openBackend(cli: Cli): Promise<Backend> {
  const app = openApp(await cli.settings())
  return { ...askInProcess(app, localOwner), close: () => app.close() }
}
