import { z } from 'zod'
import { readManifest } from '../../speech/speech.ts'
import { type FollowedRequest, liveStates } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { page } from './input.ts'
import { type Call, type Caller, defineOperation } from './operation.ts'

/** One place's part in a request; `runner` is the local one, `error` the reason why the next place was asked. */
const attempt = z.object({
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  model: z.string(),
  /** Requests sent; 0 where nothing was, such as for an open circuit. */
  tries: z.int(),
  outcome: z.enum(['answered', 'failed']),
  class: z.exactOptional(z.string()),
  status: z.exactOptional(z.int()),
  error: z.exactOptional(z.string()),
  duration_ms: z.exactOptional(z.number()),
})

/** A request to a model: its course, never its content. Times are milliseconds; `started_at` since 1970 UTC. */
const followed = z.object({
  id: z.string(),
  /** The id of the HTTP request, as in the log. */
  request_id: z.string().nullable(),
  state: z.enum(['asking', 'answering', 'answered', 'failed', 'broken', 'cancelled']),
  purpose: z.enum(['chat', 'embeddings', 'speech', 'persona', 'plugin_test']),
  user: z.string(),
  username: z.string().nullable(),
  /** Null for a login; `key_name` also for a removed key. */
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  /** As the caller named it. */
  asked_model: z.string().nullable(),
  persona: z.string().nullable(),
  /** How many memories of the persona went in. */
  memories: z.int(),
  /** The place that is asked now or was asked last; null where none was. */
  place: z.object({ plugin: z.string().nullable(), runner: z.string().nullable(), model: z.string() }).nullable(),
  started_at: z.int(),
  duration_ms: z.int(),
  /** From the start to the first content of a stream. */
  first_content_ms: z.int().nullable(),
  /** Tokens of the answer: so far by its length, in the end as the provider counts. */
  output_tokens: z.int(),
  input_tokens: z.int().nullable(),
  /** Whether `output_tokens` is by length alone. */
  estimated: z.boolean(),
  cost_usd: z.string().nullable(),
  attempts: z.array(attempt),
  /** The failure of an unanswered request. */
  problem: z.string().nullable(),
})

export const listRequests = defineOperation({
  name: 'requests.list',
  route: 'GET /api/requests',
  access: 'user',
  summary:
    "Lists the requests to models under way, and then the last ones that ended, each newest first: the caller's, for an administrator everybody's. They are kept in memory, since the service began.",
  input: z.object({ limit: page.limit }),
  output: z.object({ requests: z.array(followed), live: z.int() }),
  run: async (call, { limit }) => {
    const visible = call.app.requests.list().filter(({ facts }) => maySee(call.caller, facts.user))
    const live = visible.filter(({ state }) => liveStates.has(state)).length
    const names = namesIn(call)
    return { requests: await Promise.all(visible.slice(0, limit).map((request) => viewOf(names, request))), live }
  },
})

const showRequest = defineOperation({
  name: 'requests.show',
  route: 'GET /api/requests/:id',
  access: 'user',
  summary: 'Shows a request to a model with every attempt, and why each one failed.',
  input: z.object({ id: z.string() }),
  output: followed,
  run: async (call, { id }) => {
    const request = call.app.requests.find(id)
    if (request && maySee(call.caller, request.facts.user)) return viewOf(namesIn(call), request)
    // The same words as for an id that no request has.
    throw new AppError('not_found', `Request "${id.slice(0, 100)}" not found`, {
      details: ['Requests are kept in memory: the last 500, since the service began'],
    })
  },
})

export const showLoad = defineOperation({
  name: 'service.load',
  route: 'GET /api/load',
  access: 'user',
  summary: 'Shows the circuits that are not closed, and the queues of the speech servers of this process.',
  input: z.object({}),
  output: z.object({
    circuits: z.array(
      z.object({
        plugin: z.string().nullable(),
        runner: z.string().nullable(),
        model: z.string(),
        state: z.enum(['closed', 'open', 'half-open']),
      }),
    ),
    speech: z.array(
      z.object({
        server: z.string(),
        name: z.string(),
        /** Requests that are answered or wait, and pieces of text that wait for the engine. */
        inside: z.int(),
        waiting: z.int(),
        refused: z.int(),
        spoken: z.int(),
      }),
    ),
  }),
  run: ({ app }) => ({
    circuits: app.health.circuits().filter(({ state }) => state !== 'closed'),
    speech: app.speechCounts.list().map(([server, { inside, waiting, refused, spoken }]) => ({
      ...{ server, name: readManifest(server).name, inside, waiting, refused, spoken },
    })),
  }),
})

export const requestOperations = [listRequests, showRequest, showLoad]

function maySee({ id, role }: Caller, user: string): boolean {
  return role === 'admin' || id === user
}

async function viewOf(names: Names, request: FollowedRequest): Promise<z.output<typeof followed>> {
  const { facts, usage, cost, tokens: counted, place } = request
  const tokens = cost?.tokens
  const output = tokens?.output ?? usage?.completion_tokens
  return {
    id: request.id,
    request_id: request.requestId ?? null,
    state: request.state,
    purpose: facts.purpose,
    user: facts.user,
    username: await names.user(facts.user),
    key: facts.key ?? null,
    key_name: facts.key === undefined ? null : await names.key(facts.key),
    asked_model: facts.model ?? null,
    persona: facts.persona === undefined ? null : ((await names.persona(facts.user, facts.persona)) ?? facts.persona),
    memories: facts.memories ?? 0,
    place: place ? { plugin: place.plugin, runner: place.runner, model: place.model } : null,
    started_at: request.startedAt,
    duration_ms: request.durationMs,
    first_content_ms: request.firstContentMs ?? null,
    output_tokens: output ?? Math.ceil(counted),
    input_tokens: tokens?.input ?? usage?.prompt_tokens ?? null,
    estimated: output === undefined || cost?.estimated === true,
    cost_usd: cost?.cost_usd ?? null,
    attempts: request.attempts.map(({ plugin, runner, model, tries, outcome, ...more }) => ({
      ...{ plugin, runner, model, tries, outcome },
      ...(more.class !== undefined && { class: more.class }),
      ...(more.status !== undefined && { status: more.status }),
      ...(more.error !== undefined && { error: more.error }),
      ...(more.duration_ms !== undefined && { duration_ms: more.duration_ms }),
    })),
    problem: request.problem ?? null,
  }
}

/** The names of users and keys; null for one that is gone. */
type Names = ReturnType<typeof namesIn>

/** Looks each name up once. */
function namesIn({ app }: Call) {
  return {
    user: once(async (id) => (await (await app.accounts()).users.get(id)).user.username),
    key: once(async (id) => (await (await app.apiKeys()).get(id)).name),
    /** The persona of a user by her id or name. */
    persona: once(async (user, name) => (await (await app.personas()).personas.get(user, name)).name),
  }
}

function once<A extends readonly string[]>(
  find: (...given: A) => Promise<string>,
): (...given: A) => Promise<string | null> {
  const known = new Map<string, Promise<string | null>>()
  return (...given) => {
    const place = given.join('\n')
    const name = known.get(place) ?? find(...given).catch(unlessGone)
    known.set(place, name)
    return name
  }
}

function unlessGone(reason: unknown): null {
  if (reason instanceof AppError && (reason.code === 'not_found' || reason.code === 'forbidden')) return null
  throw reason
}
