import { z } from 'zod'
import { defineOperation } from './operation.ts'

const responseExtent = defineOperation({
  name: 'responses.extent',
  route: 'GET /api/responses',
  access: 'user',
  summary: "Tells how many of the caller's responses are kept for clients of /v1/responses, and for how long.",
  input: z.object({}),
  output: z.object({
    responses: z.int(),
    bytes: z.int(),
    /** 0 keeps none. */
    keep_days: z.int(),
  }),
  run: async ({ app, caller }) => {
    const { responses } = await app.responses()
    return { ...(await responses.extent(caller.id)), keep_days: app.settings.responseDays }
  },
})

const removeResponses = defineOperation({
  name: 'responses.clear',
  route: 'DELETE /api/responses',
  access: 'user',
  summary: "Removes all of the caller's responses that are kept for clients of /v1/responses.",
  input: z.object({}),
  output: z.object({ deleted: z.int() }),
  run: async ({ app, caller }) => {
    const { responses, background } = await app.responses()
    await background.cancelAll(caller.id)
    return { deleted: await responses.removeAll(caller.id) }
  },
})

export const responseOperations = [responseExtent, removeResponses]
