/**
 * The process in which one model computes, so that a crash or hang of native code ends this process and nothing else.
 * It takes one call after the other from its parent and ends when the parent is gone.
 */
import { toAppError } from '../errors.ts'
import type { ChatModel } from './chat-model.ts'
import type { FromModel, ToModel } from './model-messages.ts'
import type { SentenceModel } from './sentence-model.ts'

let chat: ChatModel | undefined
let sentences: SentenceModel | undefined
const calls = new Map<number, AbortController>()

process.on('message', (message: ToModel) => void take(message))
// The parent decides when to stop: a Ctrl-C in the terminal reaches this process too.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => {
  for (const call of calls.values()) call.abort()
  void chat?.close()
  void sentences?.close()
})

async function take(message: ToModel): Promise<void> {
  switch (message.type) {
    case 'open':
      return open(message)
    case 'generate':
      return attempt(message.call, async (signal) => {
        const onText = (text: string) => send({ type: 'text', call: message.call, text })
        const end = await opened(chat).generate(message.request, onText, signal)
        send({ type: 'generated', call: message.call, end })
      })
    case 'embed':
      return attempt(message.call, async (signal) => {
        const vectors = await opened(sentences).embed(message.texts, signal)
        send({ type: 'embedded', call: message.call, vectors })
      })
    case 'cancel':
      calls.get(message.call)?.abort()
      return
  }
}

async function open(message: Extract<ToModel, { type: 'open' }>): Promise<void> {
  try {
    if (message.kind === 'chat') chat = await (await import('./chat-model.ts')).openChatModel(message)
    else sentences = await (await import('./sentence-model.ts')).openSentenceModel(message)
    send({ type: 'ready' })
  } catch (thrown) {
    send({ type: 'unusable', error: plain(thrown) })
  }
}

async function attempt(call: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  calls.set(call, controller)
  try {
    await work(controller.signal)
  } catch (thrown) {
    send({ type: 'failed', call, error: plain(thrown) })
  } finally {
    calls.delete(call)
  }
}

function opened<T>(model: T | undefined): T {
  if (model === undefined) throw new Error('the model is not open')
  return model
}

function send(message: FromModel): void {
  // A parent that has just gone is not an error of this process.
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

function plain(thrown: unknown): { code: ReturnType<typeof toAppError>['code']; message: string; details: string[] } {
  const { code, message, details, cause } = toAppError(thrown)
  const reason = code === 'internal' && cause instanceof Error ? [`${cause.name}: ${cause.message}`.slice(0, 300)] : []
  return { code, message, details: [...details, ...reason] }
}
