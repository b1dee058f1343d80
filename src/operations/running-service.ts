import { z } from 'zod'
import { serviceRecord } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { defineOperation } from './operation.ts'

const text = z.string()
const texts = z.array(text)

/** The result of `POST /api/service/reload`. */
const reloadedOutput = z.object({
  changed: texts,
  needs_restart: texts,
  secrets: texts,
  rejected_plugins: z.array(z.object({ id: text, problems: texts })),
  warnings: texts,
})

export const reloadService = defineOperation({
  name: 'service.reload',
  failures: [503],
  route: 'POST /api/service/reload',
  access: 'admin',
  audited: true,
  summary:
    'Takes over the settings file, secrets in files and plugins, all at once; a bad one leaves everything as it was.',
  input: z.object({}),
  output: reloadedOutput,
  run: async ({ app }) => {
    if (!app.reloader) throw noService()
    const outcome = app.reloader.reload()
    await app.crew?.reloaded()
    return outcome
  },
})

export const runningService = defineOperation({
  name: 'service.running',
  route: 'GET /api/service',
  access: 'admin',
  summary: 'Shows the process that serves: its addresses, how long it runs, and its last reload.',
  failures: [503],
  input: z.object({}),
  output: serviceRecord,
  run: ({ app }) => {
    if (!app.service) throw noService()
    return app.service.current()
  },
})

export const runningServiceOperations = [runningService, reloadService]

export function noService(): AppError {
  return new AppError('unavailable', 'This process is no service', { details: ['Start one: aichat serve'] })
}
