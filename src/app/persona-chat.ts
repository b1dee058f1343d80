import { hostOf, isCloudName, isLoopback } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import {
  type Adaptation,
  chatHooks,
  createExtraction,
  createLorebooks,
  createPersonaChat,
  type Embedders,
} from '../personas/personas.ts'

type Chat = Parameters<typeof createPersonaChat>[0]
type Extraction = Parameters<typeof createExtraction>[0]

type PersonaChatParts = Pick<Chat, 'personas' | 'conversations'> &
  Pick<Chat & Extraction, 'memories' | 'profiles' | 'redact'> &
  Pick<Extraction, 'ask' | 'behind'> &
  Parameters<typeof createLorebooks>[0] & {
    readonly embedders: Embedders
    readonly adaptation: Pick<Adaptation, 'state' | 'observe'>
  }

/** Chats as a persona, in saved conversations or without. */
export function openPersonaChat(parts: PersonaChatParts) {
  return createPersonaChat({
    ...parts,
    lorebooks: createLorebooks(parts),
    ...chatHooks(parts.adaptation),
    requireLocalEmbedder(persona) {
      const { endpoint, model } = parts.embedders.embedder(persona.embedding_model)
      if (endpoint === undefined || (isLoopback(endpoint) && !isCloudName(model))) return
      throw embeddedElsewhere(persona.name, model, endpoint)
    },
    remembered: createExtraction(parts),
  })
}

function embeddedElsewhere(persona: string, model: string, endpoint: string): AppError {
  const reason = isLoopback(endpoint)
    ? `${model} is a model of Ollama's cloud`
    : `its host ${hostOf(endpoint)} is another machine`
  return new AppError('unavailable', `The memories of ${persona} are embedded by ${model}, and ${reason}`, {
    details: [
      'Leave the memory out: --no-memory (memory: false)',
      'or embed on this machine: aichat persona update ID --embedding-model builtin',
    ],
    final: true,
  })
}
