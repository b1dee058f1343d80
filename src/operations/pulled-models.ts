import { z } from 'zod'
import type { PullOptions } from '../model-hub/hub.ts'
import type { Pulled, PullProgress } from '../model-hub/pull.ts'
import { type Call, defineOperation } from './operation.ts'

const pulled = z.object({
  name: z.string(),
  folder: z.string(),
  bytes: z.int(),
  /** What came over the line; 0 when all was there and verified. */
  downloaded: z.int(),
  /** Files that were compared with no published digest, only with what the hub itself said of them. */
  unpinned: z.array(z.string()),
  notes: z.array(z.string()),
})

/** What a pull that is followed tells: how far it is, that it waits for another one's work, and last what became of it. */
export type PullPiece =
  | { readonly progress: PullProgress }
  | { readonly waiting: true }
  | { readonly pulled: z.output<typeof pulled> }

export const pullModel = defineOperation({
  name: 'models.pull',
  failures: [404, 502, 504],
  method: 'POST',
  path: '/api/models/pull',
  access: 'admin',
  impersonal: true,
  audited: true,
  summary:
    'Brings a model from the model hub to this machine: a pinned revision, verified, resumed where a pull ended.',
  input: z.object({
    name: z.string().max(100),
    /** Whether files come along whose licence allows no commercial use; as at the last pull where nothing is said. */
    non_commercial: z.boolean().optional(),
    stream: z.boolean().default(false),
  }),
  output: pulled,
  run: async ({ app, signal }, { name, non_commercial: nonCommercial }) =>
    plain(await (await app.models()).hub.pull(name, { signal, nonCommercial })),
  stream: {
    wanted: (input) => input.stream,
    run: async (call, { name, non_commercial }) => ({ chunks: follow(call, name, non_commercial) }),
  },
})

export const removeModel = defineOperation({
  name: 'models.remove',
  method: 'DELETE',
  path: '/api/models/:name',
  access: 'admin',
  impersonal: true,
  audited: true,
  summary: 'Removes a pulled model from this machine.',
  input: z.object({ name: z.string() }),
  output: z.object({ name: z.string(), removed: z.literal(true), bytes: z.int() }),
  run: async ({ app }, { name }) => (await app.models()).hub.remove(name),
})

/** A pull as an iteration: who leaves it leaves the pull. */
async function* follow({ app, signal }: Call, name: string, nonCommercial?: boolean): AsyncGenerator<PullPiece> {
  const left = new AbortController()
  const waiting: PullPiece[] = []
  let wake = () => {}
  const tell = (piece: PullPiece) => {
    // Only the newest progress is of interest to a reader who is slow.
    if ('progress' in piece && waiting[0] && 'progress' in waiting[0]) waiting.length = 0
    waiting.push(piece)
    wake()
  }
  const options: PullOptions = {
    signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
    nonCommercial,
    onProgress: (progress) => tell({ progress }),
    onWait: () => tell({ waiting: true }),
  }
  let result: Pulled | undefined
  let failure: { readonly reason: unknown } | undefined
  const { hub } = await app.models()
  const done = hub.pull(name, options).then(
    (value) => {
      result = value
      wake()
    },
    (reason: unknown) => {
      failure = { reason }
      wake()
    },
  )
  try {
    while (!result && !failure) {
      for (let piece = waiting.shift(); piece; piece = waiting.shift()) yield piece
      if (!result && !failure)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
    await done
    if (failure) throw failure.reason
    yield { pulled: plain(result!) }
  } finally {
    left.abort()
  }
}

function plain({ notes, unpinned, ...rest }: Pulled): z.output<typeof pulled> {
  return { ...rest, unpinned: [...unpinned], notes: [...notes] }
}

export const pulledModelOperations = [pullModel, removeModel]
