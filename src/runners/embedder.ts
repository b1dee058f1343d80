import { isLoopback } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { builtinModel, type Embedder, type Embedders, type EmbeddingModel } from '../personas/personas.ts'
import { type BuiltinEmbedder, builtinMissing, builtinNote } from './embedder-builtin.ts'
import type { OllamaEmbeddings } from './embedder-ollama.ts'
import type { PulledEmbedder } from './pulled-embedder.ts'

export interface EmbeddersParts {
  readonly builtin: BuiltinEmbedder
  readonly ollama: OllamaEmbeddings
  /** The models that `aichat models pull` installs, the best first. */
  readonly pulled: readonly PulledEmbedder[]
}

/** Suggested where no embedding model is installed: small, good, and permissively licensed. */
const suggested = ['nomic-embed-text', 'embeddinggemma', 'all-minilm']

/** Chooses between the built-in embedder, the pulled models, and the models of the local runner. */
export function createEmbedders({ builtin, ollama, pulled }: EmbeddersParts): Embedders {
  const embedders = new Map<string, Embedder>()
  return {
    async list(localOnly = false) {
      const installed = localOnly && !isLoopback(ollama.url) ? undefined : await ollama.installed()
      const dimension = builtin.space()?.dimension
      const models = [
        {
          name: builtinModel,
          provider: 'builtin' as const,
          ...(dimension !== undefined && { dimension }),
          note: dimension === undefined ? builtinMissing : builtinNote,
        },
        ...pulled.filter((each) => each.isInstalled()).map(pulledEntry),
        ...(installed ?? []).map(({ name, dimension }) => ({
          name,
          provider: 'ollama' as const,
          ...(dimension !== undefined && { dimension }),
        })),
      ]
      return models.length > 1 ? { models } : { models, instructions: instructions(installed) }
    },
    rarity: (word) => builtin.rarity(word),
    embedder(model) {
      if (model === undefined || model === builtinModel) return builtin
      const pullable = pulled.find((each) => each.model === model)
      if (pullable) return pullable
      const known = embedders.get(model) ?? ollama.embedder(model)
      embedders.set(model, known)
      return known
    },
    async require(model) {
      const pullable = pulled.find((each) => each.model === model)
      if (model === builtinModel || pullable?.isInstalled()) return
      if (pullable)
        throw new AppError('invalid', `The embedding model ${model} is not installed`, {
          details: [`Install it: aichat models pull ${model}`],
        })
      const installed = await ollama.installed()
      if (installed?.some(({ name }) => name === model || name === `${model}:latest`)) return
      throw new AppError('invalid', `The embedding model ${model} is not installed`, {
        details: [
          ...(installed ? [] : ['No model runner answers: start Ollama (https://ollama.com/download)']),
          `Install it: ollama pull ${model}`,
          `or name one that is: ${namesOf(installed ?? []).join(', ')}`,
        ],
      })
    },
  }

  function namesOf(installed: readonly { readonly name: string }[]): readonly string[] {
    const pulledNames = pulled.filter((each) => each.isInstalled()).map(({ model }) => model)
    return [builtinModel, ...pulledNames, ...installed.map(({ name }) => name)]
  }
}

function pulledEntry(pulled: PulledEmbedder): EmbeddingModel {
  const dimension = pulled.space()?.dimension
  return { name: pulled.model, provider: 'pulled', ...(dimension !== undefined && { dimension }) }
}

function instructions(installed: readonly unknown[] | undefined): readonly string[] {
  return [
    'For better matches pull an embedding model: aichat models pull minilm',
    'or install one in Ollama:',
    ...(installed ? [] : ['start Ollama (https://ollama.com/download); none answers now']),
    ...suggested.map((model) => `ollama pull ${model}`),
    `and choose it: aichat persona update ID --embedding-model NAME; until then the model "${builtinModel}" is used`,
  ]
}
