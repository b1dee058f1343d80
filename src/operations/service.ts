import { z } from 'zod'
import { databaseState, instanceName, workerState } from '../app/app.ts'
import { version } from '../version.ts'
import { defineOperation } from './operation.ts'

export const serviceStatus = defineOperation({
  name: 'service.status',
  route: 'GET /api/status',
  access: 'user',
  summary: 'Shows the active plugin and the local runner, which answer chats.',
  input: z.object({}),
  output: z.object({
    version: z.string(),
    user: z.object({ id: z.string(), username: z.string(), role: z.enum(['admin', 'user']) }),
    active_plugin: z.object({ id: z.string(), state: z.string(), model: z.string() }).nullable(),
    local_runner: z.object({ url: z.string(), reachable: z.boolean(), models: z.array(z.string()) }),
    /** This instance and the database, where several share one; administrators alone see its user, host and port. */
    instance: z.exactOptional(z.string()),
    database: z.exactOptional(z.object({ name: z.exactOptional(z.string()), reachable: z.boolean() })),
    /** The processes that serve this address, where there are several; without their own owner. */
    workers: z.exactOptional(z.array(workerState)),
    /** The reason for which usage cannot be written now, such as a full disk; chats go on. */
    usage_trouble: z.exactOptional(z.string()),
  }),
  run: async ({ app, caller }) => {
    const active = app.plugins.active('chat')
    const view = active && app.plugins.get(active.id)
    const { ollama } = await app.chat()
    const models = await ollama.models()
    const database = databaseState(app)
    const { trouble } = (await app.usage()).ledger.state()
    const workers = await app.crew?.workers()
    return {
      version: version(),
      user: { id: caller.id, username: caller.username, role: caller.role },
      active_plugin: view ? { id: view.id, state: view.state, model: view.default_model ?? view.model_map[0]! } : null,
      local_runner: {
        url: ollama.url,
        reachable: models !== undefined,
        models: (models ?? []).map(({ name }) => name),
      },
      ...(database && {
        instance: instanceName(app),
        database: { ...(caller.role === 'admin' && { name: database.name }), reachable: database.reachable },
      }),
      ...(workers && { workers: [...workers] }),
      ...(trouble !== undefined && { usage_trouble: trouble }),
    }
  },
})

export const serviceOperations = [serviceStatus]
