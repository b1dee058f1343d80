import type { Send } from '../http/send.ts'
import type { Adaptation } from '../personas/adaptation/adaptations.ts'
import type { ConversationStore } from '../personas/chat/conversation.ts'
import type { Conversations } from '../personas/chat/conversations.ts'
import type { PersonaChat } from '../personas/chat/persona-chat.ts'
import type { Embedders } from '../personas/memory/embedding.ts'
import type { Memories } from '../personas/memory/memories.ts'
import type { MemoryStore } from '../personas/memory/memory.ts'
import type { PersonaStore, Personas } from '../personas/persona.ts'
import type { MiniLmEmbedder } from '../runners/minilm.ts'
import type { Settings } from '../settings/settings.ts'
import type { Database } from '../storage/sqlite/connection.ts'
import type { PackageArea } from './packages.ts'

/** Personas, what they remember, and saved conversations. */
export interface PersonaArea {
  readonly personas: Personas
  readonly memories: Memories
  readonly conversations: Conversations
  readonly embedders: Embedders
  readonly chat: PersonaChat
  /** The stores themselves, for measurements. */
  readonly stores: {
    readonly personas: PersonaStore
    readonly memories: MemoryStore
    readonly conversations: ConversationStore
  }
  close(): Promise<void>
}

export interface PersonaAreaParts {
  readonly db: Database
  readonly settings: Pick<Settings, 'ollamaHost' | 'limits'>
  /** What personas learn; opened when it is needed. */
  readonly packages: () => Promise<Pick<PackageArea, 'adaptation'>>
  /** Sends to the local runner. */
  readonly send: Send
  /** The file of the built-in word vectors. */
  readonly vectorFile: string
  /** The embedding model that may be pulled. */
  readonly minilm: MiniLmEmbedder
  /** How many tokens a request to this model may hold, where somebody knows. */
  readonly contextTokens: (model: string | undefined, plugin: string | undefined) => number
  /** Whether this process is there for long, and removes now and then what has outlived its days. */
  readonly isService: boolean
  /** Milliseconds, monotonic. */
  readonly now: () => number
  readonly clock: () => number
}

/** The part of the composition root that deals with personas. */
export async function openPersonas(parts: PersonaAreaParts): Promise<PersonaArea> {
  const { db, settings, packages, send, vectorFile, minilm, now, clock } = parts
  const [
    { createPersonaStore },
    { createMemoryStore },
    { createConversationStore },
    { createQuota, storedLimits },
    { createPersonas },
    { createMemories },
    { startMaintenance },
    { createConversations },
    { createPersonaChat },
    { chatHooks },
    { createEmbedders },
    { createBuiltinEmbedder },
    { createOllamaEmbeddings },
  ] = await Promise.all([
    import('../storage/sqlite/personas.ts'),
    import('../storage/sqlite/memories.ts'),
    import('../storage/sqlite/conversations.ts'),
    import('../storage/sqlite/quota.ts'),
    import('../personas/personas.ts'),
    import('../personas/memory/memories.ts'),
    import('../personas/memory/maintenance.ts'),
    import('../personas/chat/conversations.ts'),
    import('../personas/chat/persona-chat.ts'),
    import('../personas/adaptation/hooks.ts'),
    import('../runners/embedder.ts'),
    import('../runners/embedder-builtin.ts'),
    import('../runners/embedder-ollama.ts'),
  ])
  const quota = createQuota(db, storedLimits(settings.limits))
  const stores = {
    personas: createPersonaStore(db, quota),
    memories: createMemoryStore(db, quota),
    conversations: createConversationStore(db),
  }
  const embedders = createEmbedders({
    builtin: createBuiltinEmbedder(vectorFile),
    ollama: createOllamaEmbeddings({ url: settings.ollamaHost, send, now }),
    pulled: minilm,
  })
  const personas = createPersonas({
    store: stores.personas,
    embedders,
    onEmbeddingModel: (persona) => memories.reembed(persona),
    onMemorySettings: (persona) => memories.clean(persona),
    onMutationSettings: (before, after) => adaptation.settingsChanged(before, after),
    clock,
  })
  const memories: Memories = createMemories({ store: stores.memories, personas, embedders, clock })
  const upkeep = parts.isService ? startMaintenance(memories) : undefined
  const conversations = createConversations({ store: stores.conversations, personas, clock })
  const adaptation: Pick<Adaptation, 'state' | 'observe' | 'settingsChanged'> = {
    state: async (persona) => (await packages()).adaptation.state(persona),
    observe: async (persona, observation) => (await packages()).adaptation.observe(persona, observation),
    settingsChanged: async (before, after) => (await packages()).adaptation.settingsChanged(before, after),
  }
  return {
    personas,
    memories,
    conversations,
    embedders,
    chat: createPersonaChat({
      personas,
      memories,
      conversations,
      ...chatHooks(adaptation),
      contextTokens: parts.contextTokens,
    }),
    stores,
    async close() {
      await upkeep?.close()
      await memories.close()
    },
  }
}
