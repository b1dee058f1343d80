import type { Send } from './chat/provider.ts'
import type { ConversationStore } from './personas/conversation.ts'
import type { Conversations } from './personas/conversation-service.ts'
import type { Embedders } from './personas/embedding.ts'
import type { MemoryStore } from './personas/memory.ts'
import type { Memories } from './personas/memory-service.ts'
import type { PersonaStore, Personas } from './personas/persona.ts'
import type { Database } from './storage/sqlite/database.ts'

/** Personas, what they remember, and saved conversations. */
export interface PersonaArea {
  readonly personas: Personas
  readonly memories: Memories
  readonly conversations: Conversations
  readonly embedders: Embedders
  /** The stores themselves, for what moves whole personas. */
  readonly stores: {
    readonly personas: PersonaStore
    readonly memories: MemoryStore
    readonly conversations: ConversationStore
  }
  close(): Promise<void>
}

export interface PersonaAreaParts {
  readonly db: Database
  readonly ollamaUrl: string
  readonly send: Send
  /** The file of the built-in word vectors. */
  readonly vectorFile: string
  /** Milliseconds, monotonic. */
  readonly now: () => number
  readonly clock: () => number
}

/** The part of the composition root that deals with personas. */
export async function openPersonas({
  db,
  ollamaUrl,
  send,
  vectorFile,
  now,
  clock,
}: PersonaAreaParts): Promise<PersonaArea> {
  const [
    { createPersonaStore },
    { createMemoryStore },
    { createConversationStore },
    { createPersonas },
    { createMemories },
    { createConversations },
    { createEmbedders },
    { createBuiltinEmbedder },
    { createOllamaEmbeddings },
  ] = await Promise.all([
    import('./storage/sqlite/personas.ts'),
    import('./storage/sqlite/memories.ts'),
    import('./storage/sqlite/conversations.ts'),
    import('./personas/persona-service.ts'),
    import('./personas/memory-service.ts'),
    import('./personas/conversation-service.ts'),
    import('./runners/embedder.ts'),
    import('./runners/embedder-builtin.ts'),
    import('./runners/embedder-ollama.ts'),
  ])
  const stores = {
    personas: createPersonaStore(db),
    memories: createMemoryStore(db),
    conversations: createConversationStore(db),
  }
  const embedders = createEmbedders({
    builtin: createBuiltinEmbedder(vectorFile),
    ollama: createOllamaEmbeddings({ url: ollamaUrl, send, now }),
  })
  const personas = createPersonas({
    store: stores.personas,
    embedders,
    onEmbeddingModel: (persona) => memories.reembed(persona),
    clock,
  })
  const memories: Memories = createMemories({ store: stores.memories, personas, embedders, clock })
  const conversations = createConversations({ store: stores.conversations, personas, clock })
  return { personas, memories, conversations, embedders, stores, close: () => memories.close() }
}
