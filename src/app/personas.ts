import { performance } from 'node:perf_hooks'
import { hostOf, isCloudName, isLoopback, notHere } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import type { HttpClient } from '../http-client/http-client.ts'
import {
  type Adaptation,
  type AskModel,
  type Backups,
  chatHooks,
  createBehind,
  createConversations,
  createExtraction,
  createLorebooks,
  createMemories,
  createPersonaChat,
  createPersonas,
  createProfiles,
  greetingOf,
  type Memories,
  scopeOf,
  startMaintenance,
  sweepScratch,
} from '../personas/personas.ts'
import { once } from '../process/process.ts'
import {
  createBuiltinEmbedder,
  createEmbedders,
  createOllamaEmbeddings,
  type PulledEmbedder,
} from '../runners/runners.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { scratchFolder } from './package-folder.ts'
import type { PackageArea } from './packages.ts'
import type { Waits } from './waits.ts'

export type PersonaArea = Awaited<ReturnType<typeof openPersonas>>

export interface PersonaAreaParts {
  readonly storage: Pick<Storage, 'personas' | 'memories' | 'profiles' | 'conversations' | 'packages'>
  readonly settings: Settings
  /** Adaptation and backups; opened when they are needed. */
  readonly packages: () => Promise<Pick<PackageArea, 'adaptation' | 'backups'>>
  readonly vectorFile: string
  /** Takes the keys of this installation out of a text. */
  readonly redact: (text: string) => string
  /** Asks a persona's own model, and no other. */
  readonly ask: AskModel
  /** Called with failures behind the answers. */
  readonly onRemark: (message: string, fields: Readonly<Record<string, string>>) => void
  /** The embedding models that may be pulled, the best first. */
  readonly pulledEmbedders: readonly PulledEmbedder[]
  /** The clock that decides about expiry. */
  readonly settledClock: () => number
  /** A long-running process. */
  readonly isService: boolean
  /** Removes expired memories now and then. */
  readonly maintains: boolean
  readonly waits: Waits
}

/** The part of the composition root that deals with personas. */
export async function openPersonas(parts: PersonaAreaParts) {
  const { storage, settings, packages, vectorFile, pulledEmbedders, waits } = parts
  const clock = Date.now
  sweepScratch(scratchFolder(settings.paths))
  // A persona may be looked at without any runner: the HTTP client is loaded when one is asked.
  let opened: HttpClient | undefined
  const client = once(async () => {
    opened = (await import('../http-client/agent.ts')).openHttpClient({ allowPrivate: true })
    return opened
  })
  const builtin = createBuiltinEmbedder(vectorFile)
  // Reading the words of the vectors blocks the event loop for some milliseconds: a daemon does so before it listens.
  if (parts.isService) builtin.space()
  const embedders = createEmbedders({
    builtin,
    ollama: createOllamaEmbeddings({
      url: settings.ollamaHost,
      async send(request) {
        if (settings.localOnly && !isLoopback(request.url)) throw notHere('The runner', otherMachine(request.url))
        return (await client()).send(request)
      },
      now: () => performance.now(),
      listAge: waits.embedderList,
      restAfterFailure: waits.embedderRest,
    }),
    pulled: pulledEmbedders,
  })
  const personas = createPersonas({
    store: storage.personas,
    embedders,
    onEmbeddingModel: (persona) => memories.reembed(persona),
    onMemorySettings: (persona) => memories.clean(persona),
    onUpdate: (before, after) => adaptation.settingsChanged(before, after),
    clock,
  })
  const inBackups: Backups['forget'] = async (...forgotten) => (await packages()).backups.forget(...forgotten)
  const profiles = createProfiles({ store: storage.profiles, memories: storage.memories, forgetting: inBackups, clock })
  const memories: Memories = createMemories({
    store: storage.memories,
    personas,
    embedders,
    async forgetting(persona, what, remove) {
      await profiles.forget(persona, what)
      return inBackups(persona, what, remove)
    },
    onEnded: (persona, ids) => profiles.ended(persona, ids),
    clock,
    settledClock: parts.settledClock,
    embeddingTimeout: waits.embedding,
    firstPause: waits.reembedding,
  })
  const behind = createBehind((persona, reason) =>
    parts.onRemark('the model gave no facts', { persona: persona.id, reason }),
  )
  const { ask, redact } = parts
  const upkeep = parts.maintains ? startMaintenance(memories) : undefined
  const conversations = createConversations({
    store: storage.conversations,
    personas,
    forget: (owner, persona, ids) => memories.forget(owner, persona, ids),
    greeting: async (persona) =>
      greetingOf(await storage.packages.greeting(scopeOf(persona)), persona.nickname ?? persona.name),
    mostKept: settings.limits.keptChatsPerUser,
    clock,
  })
  const adaptation: Pick<Adaptation, 'state' | 'observe' | 'settingsChanged'> = {
    state: async (...asked) => (await packages()).adaptation.state(...asked),
    observe: async (persona, observation) => (await packages()).adaptation.observe(persona, observation),
    settingsChanged: async (before, after) => (await packages()).adaptation.settingsChanged(before, after),
  }
  return {
    personas,
    memories,
    profiles,
    conversations,
    embedders,
    chat: createPersonaChat({
      personas,
      memories,
      profiles,
      lorebooks: createLorebooks({ store: storage.memories, clock }),
      conversations,
      ...chatHooks(adaptation),
      requireLocalEmbedder(persona) {
        const { endpoint, model } = embedders.embedder(persona.embedding_model)
        if (endpoint === undefined || (isLoopback(endpoint) && !isCloudName(model))) return
        throw embeddedElsewhere(persona.name, model, endpoint)
      },
      remembered: createExtraction({ ask, behind, memories, profiles, redact }),
      redact,
    }),
    /** The clock of the area, to which "last week" refers: milliseconds since 1970 UTC. */
    now: clock,
    /** The stores themselves, for measurements. */
    stores: storage,
    /** Ends the work of models behind answers, for a service that stops. */
    stop: behind.stop,
    /** Waits for the work of models behind answers, for a command that ends. */
    settle: behind.settle,
    async close() {
      await upkeep?.close()
      await memories.close()
      await opened?.close()
    },
  }
}

function otherMachine(address: string): string {
  return `its host ${hostOf(address)} is another machine`
}

function embeddedElsewhere(persona: string, model: string, endpoint: string): AppError {
  const reason = isLoopback(endpoint) ? `${model} is a model of Ollama's cloud` : otherMachine(endpoint)
  return new AppError('unavailable', `The memories of ${persona} are embedded by ${model}, and ${reason}`, {
    details: [
      'Leave the memory out: --no-memory (memory: false)',
      'or embed on this machine: aichat persona update ID --embedding-model builtin',
    ],
    final: true,
  })
}
