import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, composeApp } from '../../../src/app/compose.ts'
import { createReloader } from '../../../src/app/reload.ts'
import type { Waits } from '../../../src/app/waits.ts'
import { localOwner } from '../../../src/operations/ask.ts'
import { createServer, type ServerParts } from '../../../src/server/http-server.ts'
import type { Identify } from '../../../src/server/identity.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import '../cheap-bcrypt.ts'
import { closing } from '../disposal.ts'
import { placeEmptyDatabase } from '../storage/empty-database.ts'

/** An installation of its own in an empty folder. */
export interface Installation {
  readonly home: string
  readonly app: App
  /**
   * The API on loopback, without accounts: every caller is the owner unless `identify` decides otherwise. `parts`
   * replaces parts of the server, such as its deadlines.
   */
  serve(identify?: Identify, parts?: Partial<ServerParts>): Promise<string>
  close(): Promise<void>
}

export function openInstallation(
  environment: Record<string, string> = {},
  waits: Waits = {},
): Installation & AsyncDisposable {
  const home = mkdtempSync(join(tmpdir(), 'aichat-test-'))
  placeEmptyDatabase(home, environment)
  // Nothing listens on the discard port: no runner unless a test names one.
  const app = composeApp(readSettings({ AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', ...environment }), {
    waits,
    reloads: createReloader,
  })
  const closers: (() => Promise<void>)[] = []
  return closing({
    home,
    app,
    async serve(identify = () => ({ caller: localOwner }), parts = {}) {
      const server = createHttpServer(
        createServer({ app, version: '0.0.0', identify, state: { phase: 'ready' }, observe: () => {}, ...parts }),
      )
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      closers.push(async () => {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      })
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    async close() {
      for (const close of closers) await close()
      await app.close()
      rmSync(home, { recursive: true, force: true })
    },
  })
}

/** A nine-line plugin for a fake provider. */
export function pluginAt(url: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'custom',
    name: 'Custom',
    type: 'completion',
    endpoint: `${url}/v1/chat/completions`,
    auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
    model_map: ['custom-model'],
    ...more,
  }
}
