import { z } from 'zod'
import { requireListed } from '../accounts/accounts.ts'
import { AppError } from '../errors.ts'
import {
  answerRecord,
  type Conversation,
  conversationName,
  type SavedMessage,
  withoutFiles,
} from '../personas/personas.ts'
import { usdOf } from '../usage/usage.ts'
import { boundText, messageContent } from './chat.ts'
import { page, queryFlag } from './input.ts'
import { type Call, defineOperation } from './operation.ts'
import { ownPersona } from './personas.ts'

const sessionId = z.strictObject({ id: z.string() })

const session = z.object({
  id: z.string(),
  user_id: z.string(),
  name: z.string(),
  /** The persona that answers in it unless a request names another. */
  persona_id: z.exactOptional(z.string()),
  message_count: z.int(),
  /** Of a branch: the first session of its family, the one that it left, and how many messages they have in common. */
  branch: z.exactOptional(z.object({ root: z.string(), of: z.string(), at: z.int() })),
  pinned: z.exactOptional(z.literal(true)),
  created_at: z.int(),
  updated_at: z.int(),
})

const savedMessage = z.looseObject({
  role: z.string(),
  timestamp: z.int(),
  /** Its end is missing: it was stopped, or its reader left. */
  cut: z.exactOptional(z.literal(true)),
  /** Of an answer: its source, its use and the request's fields, as far as known. */
  answer: z.exactOptional(
    answerRecord.omit({ cut: true, persona_id: true, memories: true }).extend({
      cost_usd: z.exactOptional(z.string()),
      /** The same in 10^-9 USD. */
      cost_nano: z.exactOptional(z.int()),
    }),
  ),
})

export async function locateSession(
  { app, caller }: Call,
  { id = '' }: Readonly<Record<string, string>>,
): Promise<Conversation> {
  const found = await (await app.personas()).conversations.get(caller.id, id)
  if (caller.key) requireListed(caller.key, found.persona_id)
  return found
}

/** Words of a name that a list is searched for: each is a condition of the query. */
const mostWords = 8

const ofSessions = { access: 'user', scope: 'personas' } as const
const ofSession = { ...ofSessions, locate: locateSession } as const

export const listSessions = defineOperation({
  name: 'sessions.list',
  route: 'GET /api/sessions',
  ...ofSessions,
  summary:
    "Lists the caller's saved conversations, most recently used first; with `persona`, those with her alone; with `pinned`, the pinned ones alone; with `name`, those whose names hold its words.",
  input: z.object({
    /** Its id or name. */
    persona: z.exactOptional(z.string()),
    pinned: queryFlag,
    /** Words that the name holds, in any case; at most eight count. */
    name: z.exactOptional(z.string().max(1000)),
    ...page,
  }),
  output: z.object({ sessions: z.array(session), total: z.int() }),
  run: async (call, { persona, pinned, name = '', limit, offset }) => {
    const { key, id: owner } = call.caller
    const wanted = persona === undefined ? undefined : (await ownPersona(call, persona)).id
    if (key && wanted !== undefined) requireListed(key, wanted)
    const { conversations } = await call.app.personas()
    const { conversations: found, total } = await conversations.list(owner, limit, offset, {
      personas: wanted === undefined ? key?.personas : [wanted],
      pinned,
      words: name.split(/\s+/).filter(Boolean).slice(0, mostWords),
    })
    return { sessions: found.map(viewOf), total }
  },
})

export const createSession = defineOperation({
  name: 'sessions.create',
  failures: [404],
  route: 'POST /api/sessions',
  ...ofSessions,
  status: 201,
  summary: 'Creates a saved conversation; with `reuse`, returns an existing one of that name.',
  input: z.strictObject({
    name: z.exactOptional(conversationName),
    persona: z.exactOptional(z.string()),
    reuse: z.boolean().default(false),
  }),
  output: session,
  run: async (call, input) => {
    const { app, caller } = call
    const { key } = caller
    if (key?.personas)
      requireListed(key, input.persona === undefined ? undefined : (await ownPersona(call, input.persona)).id)
    const created = await (await app.personas()).conversations.create(caller.id, input)
    // With `reuse` it may be an older one, of another persona.
    if (key) requireListed(key, created.persona_id)
    return viewOf(created)
  },
})

export const showSession = defineOperation({
  name: 'sessions.show',
  route: 'GET /api/sessions/:id',
  ...ofSession,
  summary:
    'Shows a saved conversation with its messages; with `brief`, without them and its cost; with `last`, only so many at its end.',
  input: sessionId.extend({
    brief: queryFlag,
    /** Only so many of its last messages, without its cost. */
    last: z.exactOptional(z.coerce.number().int().min(1)),
    /** With the pictures and files of its messages, in base64 as a chat request has them. */
    files: queryFlag,
  }),
  output: session.extend({
    messages: z.array(savedMessage),
    /** Where it was branched, or is a branch: the first session of the family and all its branches, the earliest first. */
    family: z.exactOptional(z.array(session)),
    /** The cost of its answers; absent while none is known. */
    cost: z.exactOptional(
      z.object({
        cost_usd: z.string(),
        cost_nano: z.int(),
        /** Answers without a known cost. */
        unpriced: z.int(),
      }),
    ),
  }),
  run: async ({ app, caller }, { brief, last, files }, conversation) => {
    const { conversations } = await app.personas()
    const family = await conversations.family(conversation)
    const view = { ...viewOf(conversation), ...(family.length > 1 && { family: family.map(viewOf) }) }
    if (brief) return { ...view, messages: [] }
    const after = last === undefined ? 0 : Math.max(0, conversation.messages - last)
    const saved = await conversations.messages(caller.id, conversation.id, { after })
    const { messages } = files ? await conversations.withFiles(conversation, saved, mostShown) : { messages: saved }
    const cost = last === undefined ? costOf(messages) : undefined
    return {
      ...view,
      ...(cost && { cost }),
      messages: messages.map((message) => messageView(message, files)),
    }
  },
})

/** Bytes of pictures and files that are shown at once; the latest are. */
const mostShown = 100_000_000

/** The cost of the answers, where that of any is known. */
function costOf(messages: readonly SavedMessage[]) {
  const answers = messages.filter(({ message }) => message.role === 'assistant')
  const known = answers.flatMap(({ cost }) => (cost === undefined ? [] : [cost]))
  if (known.length === 0) return undefined
  const nano = known.reduce((sum, cost) => sum + cost, 0)
  return { cost_usd: usdOf(nano), cost_nano: nano, unpriced: answers.length - known.length }
}

/** The longest search: characters. */
const longestSearch = 1_000

export const searchSessions = defineOperation({
  name: 'sessions.search',
  route: 'GET /api/sessions/search',
  ...ofSessions,
  summary:
    "Finds messages of the caller's saved conversations by their words, the last saved first: all words of `q`, words in a row in quotes, the beginnings of words with `*`.",
  input: z.object({
    q: z.string().min(1, 'must hold a word').max(longestSearch),
    /** The earliest time of a message, in milliseconds since 1970 UTC. */
    since: z.exactOptional(z.coerce.number().int().min(0)),
    ...page,
  }),
  output: z.object({
    hits: z.array(
      z.object({
        session: z.object({ id: z.string(), name: z.string(), persona_id: z.exactOptional(z.string()) }),
        /** The place of the message in the session, from 1. */
        number: z.int(),
        role: z.string(),
        timestamp: z.int(),
        /** A piece of the message around the found words, on one line. */
        snippet: z.string(),
        /** The found words in it: beginning and end of each, in UTF-16 units. */
        marks: z.array(z.array(z.int())),
      }),
    ),
    /** Whether there are further ones behind these. */
    more: z.boolean(),
  }),
  run: async ({ app, caller }, { q, since, limit, offset }) => {
    const { conversations } = await app.personas()
    const { personas } = caller.key ?? {}
    const found = await conversations.search(caller.id, q, { since, personas, limit: limit + 1, offset })
    return {
      hits: found.slice(0, limit).map(({ conversation, number, saved, snippet: { text, marks } }) => ({
        session: conversation,
        number,
        role: saved.message.role,
        timestamp: saved.timestamp,
        snippet: text,
        marks: marks.map(([start, end]) => [start, end]),
      })),
      more: found.length > limit,
    }
  },
})

export const renameSession = defineOperation({
  name: 'sessions.rename',
  route: 'PUT /api/sessions/:id',
  ...ofSession,
  summary: 'Renames a saved conversation, pins it, or takes its pin off.',
  input: sessionId.extend({ name: z.exactOptional(conversationName), pinned: z.exactOptional(z.boolean()) }),
  output: session,
  run: async ({ app, caller }, { id, name, pinned }, conversation) => {
    const { conversations } = await app.personas()
    const renamed = name === undefined ? conversation : await conversations.rename(caller.id, id, name)
    return viewOf(pinned === undefined ? renamed : await conversations.pin(caller.id, renamed.id, pinned))
  },
})

const mostAdded = 100

/** How many messages the caller believes it to hold. */
const expected = { expected_messages: z.exactOptional(z.int().min(0)) }

export const appendToSession = defineOperation({
  name: 'sessions.append',
  failures: [409],
  route: 'POST /api/sessions/:id/messages',
  ...ofSession,
  summary:
    'Adds messages to a saved conversation without asking a model, such as a question and the beginning of an answer that was stopped; with `expected_messages`, only while it holds that many.',
  limit: 32 * 1024 * 1024,
  input: sessionId.extend({
    messages: z
      .array(
        z
          .strictObject({
            role: z.enum(['user', 'assistant']),
            content: messageContent.refine((content) => content.length > 0, 'must not be empty'),
            /** Its end is missing; a model that is asked later learns it. */
            cut: z.boolean().default(false),
          })
          .refine(({ role, cut }) => role === 'assistant' || !cut, { path: ['cut'], message: 'is for answers' }),
      )
      .min(1, 'must hold at least one message')
      .max(mostAdded, `must hold at most ${mostAdded} messages`),
    ...expected,
  }),
  output: session,
  run: async ({ app, caller }, { messages, expected_messages }, conversation) => {
    boundText(app.settings, { messages })
    const { conversations } = await app.personas()
    await conversations.add(
      conversation,
      messages.map(({ cut, ...message }) => ({ message, ...(cut && { answer: { cut } }) })),
      expected_messages,
    )
    return viewOf(await conversations.get(caller.id, conversation.id))
  },
})

const branchSession = defineOperation({
  name: 'sessions.branch',
  route: 'POST /api/sessions/:id/branch',
  ...ofSession,
  status: 201,
  summary:
    'Begins a session with copies of the first `messages` of another one, to go on from there in another way: the other one stays as it is.',
  input: sessionId.extend({ messages: z.int().min(0) }),
  output: session,
  run: async ({ app }, { messages }, conversation) =>
    viewOf(await (await app.personas()).conversations.branch(conversation, messages)),
})

export const undoSession = defineOperation({
  name: 'sessions.undo',
  failures: [409],
  route: 'POST /api/sessions/:id/undo',
  ...ofSession,
  summary:
    "Takes the last exchange out of a saved conversation: the user's last message and all behind it, with the memories that it added to the persona; with `expected_messages`, only while it holds that many.",
  input: sessionId.extend({
    ...expected,
    /** With the pictures and files of the messages. */
    files: z.boolean().default(false),
  }),
  output: session.extend({
    /** The messages that were taken out, in their order. */
    taken: z.array(savedMessage),
  }),
  run: async ({ app, caller }, { expected_messages, files }, conversation) => {
    const { conversations } = await app.personas()
    const taken = await conversations.takeBack(conversation, expected_messages, files ? mostShown : 0)
    return {
      ...viewOf(await conversations.get(caller.id, conversation.id)),
      taken: taken.map((message) => messageView(message, files)),
    }
  },
})

export const removeSession = defineOperation({
  name: 'sessions.remove',
  route: 'DELETE /api/sessions/:id',
  ...ofSession,
  summary: 'Removes a saved conversation for good.',
  input: sessionId,
  output: z.object({ id: z.string(), removed: z.literal(true) }),
  run: async ({ app, caller }, { id }) => {
    const removed = await (await app.personas()).conversations.remove(caller.id, id)
    return { id: removed.id, removed: true as const }
  },
})

export const removeSessions = defineOperation({
  name: 'sessions.clear',
  route: 'DELETE /api/sessions',
  ...ofSessions,
  summary: "Removes the caller's saved conversations for good: those last used `before` a time, or `all`.",
  input: z.object({
    /** Milliseconds since 1970 UTC. */
    before: z.exactOptional(z.coerce.number().int().min(0)),
    all: queryFlag,
  }),
  output: z.object({ removed: z.int() }),
  run: async ({ app, caller }, { before, all }) => {
    if ((before === undefined) !== all)
      throw new AppError('invalid', 'Invalid request', { details: ['before: name a time, or say all=true'] })
    if (caller.key) requireListed(caller.key, undefined)
    return { removed: await (await app.personas()).conversations.removeBefore(caller.id, before) }
  },
})

export const sessionOperations = [
  listSessions,
  createSession,
  searchSessions,
  removeSessions,
  showSession,
  renameSession,
  appendToSession,
  branchSession,
  undoSession,
  removeSession,
]

function messageView({ message, timestamp, cost, answer = {} }: SavedMessage, files: boolean) {
  const { cut, persona_id: _persona, memories: _memories, ...circumstances } = answer
  const record = { ...circumstances, ...(cost !== undefined && { cost_usd: usdOf(cost), cost_nano: cost }) }
  return {
    ...(files ? message : withoutFiles(message)),
    timestamp,
    ...(cut && { cut }),
    ...(Object.keys(record).length > 0 && { answer: record }),
  }
}

function viewOf({ messages, ...conversation }: Conversation): z.output<typeof session> {
  return { ...conversation, message_count: messages }
}
