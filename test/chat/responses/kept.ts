import { createResponses, type OpenedRequest, type Responses } from '../../../src/chat/responses/responses.ts'
import type { Item, Reader, ResponseObject } from '../../../src/chat/responses/store.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'

export const ada: Reader = { owner: 'ada' }

/** Responses in a database of their own, under a clock that stands still unless it is moved. */
export interface KeptResponses {
  readonly responses: Responses
  readonly storage: Storage
  /** Milliseconds since 1970 UTC. */
  readonly clock: { now: number }
  /** Asks for a response that answers with one text, and keeps it. */
  ask(body: Record<string, unknown>, reader?: Reader): Promise<OpenedRequest>
}

/** How long responses are kept, in the tests: milliseconds. */
export const lifetime = 1_000

export async function withResponses(
  work: (parts: KeptResponses) => Promise<void>,
  { keep = lifetime, most = 100 }: { readonly keep?: number; readonly most?: number } = {},
): Promise<void> {
  const folder = temporaryFolder()
  const storage = await openStorage(storageIn(folder))
  const clock = { now: Date.UTC(2026, 5, 1) }
  const bounds = { responses: most, bytes: 1e9 }
  const responses = createResponses({ store: storage.responses, lifetime: keep, bounds, clock: () => clock.now })
  try {
    await work({
      responses,
      storage,
      clock,
      async ask({ id = 'resp_1', output, ...body }, reader = ada) {
        const opened = await responses.open(body, reader)
        await responses.keep(opened, response(String(id), output as readonly Item[] | undefined), reader)
        return opened
      },
    })
  } finally {
    await storage.close()
  }
}

/** A response of one message, `Answer of ID`. */
export function response(id: string, output: readonly Item[] = [answer(id)], status = 'completed'): ResponseObject {
  return { id, object: 'response', created_at: 1, status, model: 'm', output }
}

function answer(id: string): Item {
  return {
    id: `msg_of_${id}`,
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: `Answer of ${id}` }],
  }
}

/** The texts of a request's messages, in their order. */
export function textsOf({ body }: OpenedRequest): readonly string[] {
  return (body['input'] as readonly Item[]).map(({ content, type }) => {
    if (typeof content === 'string') return content
    return Array.isArray(content) ? content.map(({ text }) => text).join('') : String(type)
  })
}
