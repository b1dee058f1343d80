import { z } from 'zod'
import { AppError } from '../errors.ts'
import { createWorkQueue } from '../process/process.ts'
import { defineOperation } from './operation.ts'

/** Each document is read in a process of its own. */
const readers = createWorkQueue({
  running: 2,
  waiting: 20,
  full: () => new AppError('busy', 'Other documents are being read: try again in a moment'),
})

export const readDocument = defineOperation({
  name: 'documents.read',
  failures: [429],
  route: 'POST /api/documents/text',
  access: 'user',
  scope: 'chat',
  impersonal: true,
  summary: 'Reads the text of a PDF, sent as base64, so that a chat can hold it. Nothing is kept.',
  limit: 32 * 1024 * 1024,
  input: z.object({
    name: z.string().min(1).max(1000),
    data: z.string().min(1).meta({ contentEncoding: 'base64' }),
  }),
  output: z.object({ text: z.string(), title: z.exactOptional(z.string()), pages: z.exactOptional(z.int()) }),
  run: async (_, { name, data }) => {
    const leave = await readers.enter()
    try {
      const { readPdf } = await import('../formats/document-text.ts')
      return await readPdf(Buffer.from(data, 'base64'), name)
    } finally {
      leave()
    }
  },
})
