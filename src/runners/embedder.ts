import { AppError } from '../errors.ts'
import { builtinModel, type Embedder, type Embedders } from '../personas/embedding.ts'
import { builtinNote } from './embedder-builtin.ts'
import type { OllamaEmbeddings } from './embedder-ollama.ts'

export interface EmbeddersParts {
  readonly builtin: Embedder
  readonly ollama: OllamaEmbeddings
}

/** What is suggested to someone who has no embedding model: small, good, and permissively licensed. */
const suggested = ['nomic-embed-text', 'embeddinggemma', 'all-minilm']

/** The built-in embedder and the models of the local runner. */
export function createEmbedders({ builtin, ollama }: EmbeddersParts): Embedders {
  const embedders = new Map<string, Embedder>()
  return {
    async list() {
      const installed = await ollama.installed()
      const dimension = builtin.space()?.dimension
      const models = [
        {
          name: builtinModel,
          provider: 'builtin' as const,
          ...(dimension !== undefined && { dimension }),
          note: builtinNote,
        },
        ...(installed ?? []).map(({ name, dimension }) => ({
          name,
          provider: 'ollama' as const,
          ...(dimension !== undefined && { dimension }),
        })),
      ]
      return installed && installed.length > 0 ? { models } : { models, instructions: instructions(installed) }
    },
    embedder(model) {
      if (model === undefined || model === builtinModel) return builtin
      const known = embedders.get(model) ?? ollama.embedder(model)
      embedders.set(model, known)
      return known
    },
    async require(model) {
      if (model === builtinModel) return
      const installed = await ollama.installed()
      if (installed?.some(({ name }) => name === model || name === `${model}:latest`)) return
      throw new AppError('invalid', `The embedding model ${model} is not installed`, {
        details: [
          ...(installed ? [] : ['No model runner answers: start Ollama (https://ollama.com/download)']),
          `Install it: ollama pull ${model}`,
          `or name one that is: ${[builtinModel, ...(installed ?? []).map(({ name }) => name)].join(', ')}`,
        ],
      })
    },
  }
}

function instructions(installed: readonly unknown[] | undefined): readonly string[] {
  return [
    'For better matches install an embedding model in Ollama:',
    ...(installed ? [] : ['start Ollama (https://ollama.com/download); none answers now']),
    ...suggested.map((model) => `ollama pull ${model}`),
    `and name it in the persona's embedding_model; until then the model "${builtinModel}" is used`,
  ]
}
