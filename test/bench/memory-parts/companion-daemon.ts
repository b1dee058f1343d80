import type { SearchHit } from '../../../src/personas/memory/memories.ts'
import type { MemoryEntry } from '../../../src/personas/memory/memory.ts'
import { closing } from '../../helpers/disposal.ts'
import type { Answered } from '../../helpers/program/daemon.ts'
import { openUsers } from '../../helpers/program/user-daemon.ts'
import { completion, json } from '../../helpers/providers/fake-provider.ts'

/** What became of something that was said. */
export interface Said {
  /** The lines that the model was sent, without what the user said in this conversation. */
  readonly prompt: readonly string[]
  /** The ids of the memories that a request to forget means; absent where it was taken for none. */
  readonly forget?: readonly string[]
}

/** A persona and its user, over the public operations. */
export interface Companion {
  /** Says it and has it answered, in a conversation of its own unless a session is named. */
  say(text: string, session?: string): Promise<Said>
  /** The prompt that saying it would send; nothing is kept of it. */
  promptFor(text: string): Promise<readonly string[]>
  /** A new session with the persona. */
  session(name: string): Promise<string>
  /** Stores a memory that is pinned. */
  pin(content: string): Promise<void>
  memories(): Promise<readonly MemoryEntry[]>
  /** The score of the best match; 0 without one. */
  bestScore(query: string): Promise<number>
  /** Removes a memory; none of that id is no error. */
  remove(id: string): Promise<void>
}

/** A daemon with the built-in embedder, and a model that answers as told. */
export async function openCompanions(answer: (said: string) => string = () => 'ok') {
  const daemon = await openUsers({
    provider: (request, response) => {
      const said = String(JSON.parse(request.body).messages.at(-1).content).split('\n').at(-1)!
      json(response, 200, completion(answer(said)))
    },
  })
  const { ada, provider } = daemon
  const call = async (method: string, path: string, body?: unknown): Promise<Answered['body']> => {
    const answered = await ada(method, path, body)
    if (answered.status >= 300) throw new Error(`${path}: ${answered.status} ${JSON.stringify(answered.body)}`)
    return answered.body
  }
  return closing({
    /** A persona of its own that remembers; settings of its memory replace those of the bench. */
    async companion(memory_settings: Record<string, unknown> = {}): Promise<Companion> {
      const settings = { enabled: true, max_memories: 10_000, retention_days: 3650, ...memory_settings }
      const path = await daemon.persona({ memory_settings: settings })
      const persona = path.split('/').at(-1)
      const order = (content: string, session?: string) => ({
        persona,
        messages: [{ role: 'user', content }],
        ...(session !== undefined && { session }),
      })
      return {
        async say(text, session) {
          const { aichat } = await call('POST', '/api/chat', order(text, session))
          const prompt = promptOf(JSON.parse(provider.received.at(-1)!.body).messages, text)
          return { prompt, ...(aichat.forget && { forget: aichat.forget }) }
        },
        async promptFor(text) {
          const { body } = await call('POST', '/api/chat/preview', order(text))
          return promptOf(body.messages, text)
        },
        session: async (name) => (await call('POST', '/api/sessions', { name, persona })).id,
        async pin(content) {
          await call('POST', `${path}/memory`, { content, metadata: { pinned: true } })
        },
        memories: async () => (await call('GET', `${path}/memory?limit=1000`)).memories,
        async bestScore(query) {
          const { results, mode } = await call('POST', `${path}/memory/search`, { query, limit: 1 })
          if (mode !== 'hybrid') throw new Error('the built-in word vectors are not built')
          return (results as SearchHit[])[0]?.score ?? 0
        },
        async remove(id) {
          const { status } = await ada('DELETE', `${path}/memory/${id}`)
          if (status >= 300 && status !== 404) throw new Error(`a memory was not removed: ${status}`)
        },
      }
    },
    close: () => daemon[Symbol.asyncDispose](),
  })
}

/** The lines of the system prompt, and those around the user's last message, in the order in which the model reads them. */
function promptOf(messages: readonly { readonly role: string; readonly content: unknown }[], said: string): string[] {
  const last = String(messages.at(-1)!.content)
  const at = last.lastIndexOf(said)
  const around = at < 0 ? last : `${last.slice(0, at)}\n${last.slice(at + said.length)}`
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => String(content))
  return [...system, around]
    .join('\n')
    .split('\n')
    .filter((line) => line.trim() !== '')
}

/** The time of this process, until it is disposed of. The core reads `Date.now` when it opens: set the clock before that. */
export function openClock(): { set(time: number): void } & Disposable {
  const real = Date.now
  let [time, since] = [real(), real()]
  Date.now = () => time + real() - since
  return {
    set(next) {
      time = next
      since = real()
    },
    [Symbol.dispose]() {
      Date.now = real
    },
  }
}
