import { z } from 'zod'
import { createQueue } from '../../speech/speech.ts'
import type { PullOptions, PullProgress } from '../model-hub/model-hub.ts'
import { type Call, defineOperation } from './operation.ts'
import { changesPlugins } from './plugins.ts'

const pulled = z.object({
  name: z.string(),
  folder: z.string(),
  bytes: z.int(),
  /** Bytes downloaded; 0 when all files were there and verified. */
  downloaded: z.int(),
  /** Files without a published digest, verified only against the digest from the hub. */
  unpinned: z.array(z.string()),
  notes: z.array(z.string()),
})

/** A chunk of a streamed pull: progress, waiting for another pull of the model, and last the result. */
export type PullPiece =
  | { readonly progress: PullProgress }
  | { readonly waiting: true }
  | { readonly pulled: z.output<typeof pulled> }

export const pullModel = defineOperation({
  name: 'models.pull',
  failures: [404, 502, 504],
  route: 'POST /api/models/pull',
  ...changesPlugins,
  summary: 'Pulls a model from the model hub: a pinned revision, verified; resumes an unfinished pull.',
  input: z.object({
    name: z.string().max(100),
    /** Whether to pull files with a licence that forbids commercial use; default as at the last pull. */
    non_commercial: z.boolean().optional(),
    stream: z.boolean().default(false),
  }),
  output: pulled,
  deed: ({ name: subject }) => ({ subject }),
  run: async ({ app, signal }, { name, non_commercial: nonCommercial }) =>
    (await app.models()).hub.pull(name, { signal, nonCommercial }),
  stream: {
    wanted: (input) => input.stream,
    run: async (call, { name, non_commercial }) => ({ chunks: follow(call, name, non_commercial) }),
  },
})

export const listKnownModels = defineOperation({
  name: 'models.known',
  route: 'GET /api/models/known',
  access: 'user',
  scope: 'models',
  summary: 'Lists the models that can be pulled, with their licences.',
  input: z.object({}),
  output: z.object({
    models: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(['chat', 'embedding', 'tts']),
        licence: z.string(),
        summary: z.string(),
        installed: z.boolean(),
      }),
    ),
  }),
  run: async ({ app }) => {
    const { hub } = await app.models()
    return {
      models: [...hub.known.values()].map(({ name, kind, licence, summary }) => ({
        ...{ name, kind, licence, summary, installed: hub.find(name) !== undefined },
      })),
    }
  },
})

export const removeModel = defineOperation({
  name: 'models.remove',
  route: 'DELETE /api/models/:name',
  ...changesPlugins,
  summary: 'Removes a pulled model from this machine.',
  input: z.object({ name: z.string() }),
  output: z.object({ name: z.string(), removed: z.literal(true), bytes: z.int() }),
  run: async ({ app }, { name }) => (await app.models()).hub.remove(name),
})

/** A pull as an iteration; leaving the iteration aborts the pull. */
async function* follow({ app, signal }: Call, name: string, nonCommercial?: boolean): AsyncGenerator<PullPiece> {
  const left = new AbortController()
  // A slow reader gets only the newest progress.
  const pieces = createQueue<PullPiece>((piece, waiting) => 'progress' in piece && 'progress' in waiting)
  const options: PullOptions = {
    signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
    nonCommercial,
    onProgress: (progress) => pieces.push({ progress }),
    onWait: () => pieces.push({ waiting: true }),
  }
  const { hub } = await app.models()
  hub.pull(name, options).then(
    (result) => {
      pieces.push({ pulled: result as z.output<typeof pulled> })
      pieces.finish()
    },
    (reason) => pieces.finish(reason),
  )
  try {
    yield* pieces.pieces()
  } finally {
    left.abort()
  }
}

export const pulledModelOperations = [listKnownModels, pullModel, removeModel]
