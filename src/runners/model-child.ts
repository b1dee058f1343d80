/** The process in which one model computes, so that a crash or hang of native code ends this process and nothing else. */
import { serveParent } from '../process/process.ts'
import type { ChatModel } from './chat-model.ts'
import type { ModelMethods } from './model-messages.ts'
import type { SentenceModel } from './sentence-model.ts'

let chat: ChatModel | undefined
let sentences: SentenceModel | undefined

serveParent<ModelMethods>(
  {
    async open({ kind, ...options }) {
      if (kind === 'chat') chat = await (await import('./chat-model.ts')).openChatModel(options)
      else sentences = await (await import('./sentence-model.ts')).openSentenceModel(options)
    },
    generate: (request, { emit, signal }) => opened(chat).generate(request, (text) => void emit(text), signal),
    embed: (texts, { signal }) => opened(sentences).embed(texts, signal),
  },
  async () => {
    await chat?.close()
    await sentences?.close()
  },
)

function opened<T>(model: T | undefined): T {
  if (model === undefined) throw new Error('the model is not open')
  return model
}
