import { z } from 'zod'
import { AppError } from '../errors.ts'
import { parseJson, requestBounds } from '../formats/formats.ts'
import { defineOperation } from './operation.ts'

export const validatePlugin = defineOperation({
  name: 'plugins.validate',
  method: 'POST',
  path: '/api/plugins/validate',
  access: 'admin',
  impersonal: true,
  summary: 'Checks the text of a plugin document without installing it; each problem with its line.',
  limit: 512 * 1024,
  input: z.object({ text: z.string().max(256 * 1024, 'must be at most 256 KiB') }),
  output: z.object({
    valid: z.boolean(),
    /** Null where the document is not valid, or has none. */
    id: z.string().nullable(),
    /** Whether a plugin of that id is installed. */
    installed: z.boolean(),
    problems: z.array(
      z.object({
        /** From 1 on; null for a problem of the whole document. */
        line: z.int().nullable(),
        message: z.string(),
      }),
    ),
    warnings: z.array(z.object({ line: z.int().nullable(), message: z.string() })),
  }),
  run: async ({ app }, { text }) => {
    const { lineOf } = await import('../formats/json/line-of.ts')
    const placed = (lines: readonly string[]) => lines.map((message) => ({ line: lineOf(text, message), message }))
    try {
      const manifest = app.plugins.validate(parseJson(text, 'the document', requestBounds))
      const installed = app.plugins.find(manifest.id) !== undefined
      return { valid: true, id: manifest.id, installed, problems: [], warnings: placed(app.plugins.warnings(manifest)) }
    } catch (reason) {
      if (!(reason instanceof AppError) || reason.status >= 500) throw reason
      const problems =
        reason.cause === undefined && reason.details.length > 0 ? reason.details : [reason.message, ...reason.details]
      return { valid: false, id: null, installed: false, problems: placed(problems), warnings: [] }
    }
  },
})

export const pluginCheckOperations = [validatePlugin]
