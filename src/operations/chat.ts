import { z } from 'zod'
import { permitsOf, requireScopes } from '../accounts/accounts.ts'
import {
  ChangedItems,
  type ChatChunk,
  type Countable,
  estimateRequestTokens,
  objectOf,
  type RoutedStream,
  type RouteReport,
  textLength,
} from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../formats/formats.ts'
import { factsOfShow, modelFacts } from '../plugins/plugins.ts'
import type { Settings } from '../settings/settings.ts'
import type { ChatOrder, ReadyChat } from './chat-order.ts'
import { type Call, defineOperation } from './operation.ts'
import { completeChat, prepareChat, reportHeaders, streamChat } from './prepare-chat.ts'
import { speechWish, spokenPart } from './speech-wish.ts'

const part = z.looseObject({ type: z.string() })

/** OpenAI's service accepts 2,048 messages. */
export const mostMessages = 5000
export const mostParts = 1000
export const mostTools = 1000

export const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

const partsRule = `must be text or a list of at most ${mostParts} parts`

/** The text or the parts of a message. */
export const messageContent = z.union([z.string(), z.array(part).max(mostParts)], partsRule)

const message = z.looseObject({
  role: z.enum(roles),
  content: z.union([messageContent, z.null()], partsRule).default(null),
})

/** A chat completions request with an optional model, and the fields of aichat. */
export const chatInput = z.looseObject({
  messages: z
    .array(message)
    .min(1, 'must hold at least one message')
    .max(mostMessages, `must hold at most ${mostMessages} messages`),
  model: z.exactOptional(z.string().max(300)),
  tools: z.exactOptional(z.array(z.unknown()).max(mostTools).nullable()),
  plugin: z.exactOptional(z.string()),
  persona: z.exactOptional(z.string()),
  session: z.exactOptional(z.string()),
  /** False keeps the persona from reading and writing memories. */
  memory: z.boolean().default(true),
  stream: z.boolean().nullable().default(false),
  temperature: z.exactOptional(z.number().min(0).max(2).nullable()),
  top_p: z.exactOptional(z.number().min(0).max(1).nullable()),
  max_tokens: z.exactOptional(z.int().min(1).nullable()),
  max_completion_tokens: z.exactOptional(z.int().min(1).nullable()),
  n: z.exactOptional(z.int().min(1).nullable()),
  fallback: z.boolean().default(true),
  /** True asks models on this machine only, embeds there, and calls no tool server elsewhere. */
  local_only: z.boolean().default(false),
  /**
   * Keeps the chat as a session of its own where it names none, under a name that `title` or its question gives; with
   * `files` their names stand beside the answer. Where the reader leaves, the beginning of the answer is kept, or the
   * question alone where no word of it came.
   */
  keep: z
    .union([
      z.boolean(),
      z.strictObject({
        title: z.exactOptional(z.string().max(1000)),
        files: z.exactOptional(
          z.array(z.strictObject({ name: z.string().max(1000), bytes: z.int().min(0) })).max(mostParts),
        ),
      }),
    ])
    .default(false),
  /**
   * The client calls the tools: messages after the user's last are calls and results of one turn, of which a conversation and
   * a memory keep the user's message and the final answer.
   */
  tool_turn: z.boolean().default(false),
  /** Shows steps of a persona's tools in chunks of their own, and asks about those that need an answer. */
  tool_steps: z.boolean().default(false),
  /** Speaks the answer of a stream while it comes: true, or how. */
  speech: speechWish.default(false),
})

export type ChatInput = z.output<typeof chatInput>

/** The cost of an answer: a decimal text in USD, null where no price is known, and the source of the price. */
const cost = z.object({
  cost_usd: z.string().nullable(),
  /** The same in 10^-9 USD. */
  cost_nano: z.int().nullable(),
  source: z.enum(['reported', 'operator', 'refreshed', 'shipped', 'local']).nullable(),
  /** True where the provider reported no tokens and we counted. */
  estimated: z.boolean(),
  /** Tokens of the request and of the answer. */
  tokens: z.exactOptional(z.object({ input: z.int(), output: z.int() })),
})

const attempt = z.looseObject({
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  model: z.string(),
  tries: z.int(),
  outcome: z.enum(['answered', 'failed']),
})

/** A step of a call; `asks` waits for `POST /api/chat/tools/:id`, and `done`, `failed` and `refused` are its ends. */
const toolStep = z.object({
  id: z.string(),
  server: z.string(),
  tool: z.string(),
  description: z.string(),
  /** JSON in which nothing is invisible. */
  arguments: z.string(),
  state: z.enum(['asks', 'runs', 'done', 'failed', 'refused']),
  /** What the model gets; pictures and files by their kind alone. */
  result: z.exactOptional(z.string()),
})

/** The plugin or runner that answered, and the failed attempts before it. */
const routeReport = z.looseObject({
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  model: z.string(),
  fallback: z.boolean(),
  attempts: z.array(attempt),
  warnings: z.array(z.string()),
  /** Nothing was sent to another machine, as `local_only` or the operator wanted it. */
  local_only: z.exactOptional(z.literal(true)),
  /** The persona's memories in the request, best first. */
  memories: z.exactOptional(z.array(z.object({ id: z.string(), score: z.number() }))),
  /** Where the user asks to forget something, the ids of the memories that this may mean; they go with the answer where the persona's settings say so. */
  forget: z.exactOptional(z.array(z.string())),
  /** How many parts of the user's message become memories with the answer. */
  kept: z.exactOptional(z.int()),
  persona: z.exactOptional(z.string()),
  /** Absent in the first chunk of a stream; a chunk of its own at the end has it. */
  cost: cost.optional(),
  /** The session in which a chat with `keep` stands; in a stream, a chunk at the end has it. */
  session: z.exactOptional(z.object({ id: z.string(), name: z.string() })),
  /** In a stream with `speech`, chunks of their own between the others and behind them. */
  speech: z.exactOptional(spokenPart),
  /** In a stream with `tool_steps`, a chunk of its own: a call, the last time at its end. */
  tool: z.exactOptional(toolStep),
  /** The code of the failure that kept the exchange from being saved. */
  unsaved: z.exactOptional(z.string()),
})

const chatOutput = z.looseObject({
  id: z.string(),
  object: z.string(),
  model: z.string(),
  choices: z.array(z.looseObject({})),
  aichat: routeReport,
})

export const chat = defineOperation({
  name: 'chat.complete',
  failures: [404, 422, 429, 502, 504],
  route: 'POST /api/chat',
  access: 'user',
  scope: 'chat',
  summary: 'Answers a conversation: by the active plugin, and if that fails by the local model runner.',
  limit: 32 * 1024 * 1024,
  input: chatInput,
  output: chatOutput,
  run: async (call, input) => {
    const ready = await prepareChat(call, await check(call, input))
    const { reply, report, booking, ...place } = await completeChat(call, ready, call.signal)
    setHeaders(call, () => ({ ...reportHeaders(report, ready), ...booking.limitHeaders() }))
    const choices = reply.choices.map((choice) => ({ ...choice }))
    return {
      ...reply,
      choices,
      aichat: { ...reportOf(report, ready), cost: booking.cost(), ...place },
    }
  },
  stream: {
    wanted: (input) => input.stream === true,
    run: async (call, input) => {
      const ready = await prepareChat(call, await check(call, input))
      const routed = await streamChat(call, ready, call.signal)
      const headers = { ...reportHeaders(routed.report, ready), ...routed.booking.limitHeaders() }
      const chunks = withReport(routed, ready)
      const { speech } = input
      if (!speech) return { chunks, headers }
      const { withSpeech } = await import('./spoken-chat.ts')
      return { chunks: withSpeech(call, chunks, speech === true ? {} : speech), headers }
    },
  },
})

/** Throws `too_large` for a chat with more text than `limits.chat_text`; pictures and files do not count. */
export function boundText(
  { limits }: Pick<Settings, 'limits'>,
  { messages, tools }: { readonly messages: readonly object[]; readonly tools?: unknown },
): void {
  if (textLength({ messages, tools }) <= limits.chatText) return
  throw new AppError('too_large', `The chat holds more than ${limits.chatText} characters of text`, {
    details: ['Leave out or shorten its oldest messages, or raise limits.chat_text'],
  })
}

function setHeaders({ header }: Call, headers: () => Readonly<Record<string, string>>): void {
  if (header) for (const [name, value] of Object.entries(headers())) header(name, value)
}

/** The request checked as OpenAI's dialect reads it; the model stays optional. Throws `invalid`, or `too_large` as `boundText`. */
async function check({ app, caller, signal }: Call, input: ChatInput): Promise<ChatOrder> {
  boundText(app.settings, input)
  if (input.speech && !input.stream)
    throw new AppError('invalid', 'Invalid request', { details: ['speech: comes with "stream": true alone'] })
  if (input.speech && caller.key) requireScopes(caller.key, 'speech')
  const { persona, session, keep, tool_steps: toolSteps, ...plain } = input
  const { request, ...target } = routed(plain)
  const work = { user: caller.id, isOver: () => signal?.aborted === true }
  await nextStage(request, work)
  const { readRequest } = await import('../chat/dialects/openai/request-reader.ts')
  const { model: _, ...checked } = readRequest({ ...request, model: undefined })
  await nextStage(checked, work)
  const { model } = request
  return {
    ...target,
    persona,
    session,
    toolSteps,
    keep: keep === true ? {} : keep || undefined,
    request: { ...checked, ...(model !== undefined && { model }) },
  }
}

type Routable = { [K in keyof ChatInput as K extends 'keep' | 'speech' | 'tool_steps' ? never : K]: ChatInput[K] } & {
  readonly keep?: unknown
  readonly speech?: unknown
  readonly tool_steps?: unknown
}

/** The request for a provider, and the fields that choose the provider. Throws `invalid` for persona or session. */
export function routed({
  plugin,
  fallback,
  persona,
  session,
  memory,
  tool_turn: toolTurn,
  local_only: localOnly,
  keep: _keep,
  speech: _speech,
  tool_steps: _steps,
  ...request
}: Routable): ChatOrder {
  if (persona !== undefined || session !== undefined) {
    throw new AppError('invalid', 'Invalid chat request', {
      details: ['persona and session are for /api/chat; here a persona is a model, persona:NAME'],
    })
  }
  return { request: request as ChatOrder['request'], plugin, fallback, memory, toolTurn, localOnly }
}

/** The first chunk holds the report, for clients that cannot read headers, and a chunk at the end the cost. */
function withReport({ chunks, report, booking }: RoutedStream, ready: ReadyChat): AsyncIterable<ChatChunk> {
  let last: ChatChunk | undefined
  const reported = (chunk: ChatChunk) => {
    const isFirst = last === undefined
    last = chunk
    return isFirst ? { ...chunk, aichat: { ...reportOf(report, ready), ...objectOf(chunk['aichat']) } } : chunk
  }
  return new ChangedItems(chunks, reported, () => {
    const cost = last && booking.cost()
    return last && cost ? { ...last, choices: [], usage: null, aichat: { cost } } : undefined
  })
}

function reportOf(report: RouteReport, { chat }: ReadyChat): z.input<typeof routeReport> {
  return {
    ...report,
    attempts: report.attempts.map((attempt) => ({ ...attempt })),
    warnings: [...report.warnings, ...(chat?.warnings ?? []), ...forgetWarnings(chat)],
    ...(chat?.forget && { forget: chat.forget.map(({ id }) => id) }),
    ...(chat?.keeping && { kept: chat.keeping.filter(({ refusal }) => refusal === undefined).length }),
    ...(chat?.persona !== undefined && { persona: chat.persona }),
    ...(chat && { memories: chat.memories.map((memory) => ({ ...memory })) }),
  }
}

/** Names what a request to forget means: it goes after a yes, since it may mean something else, or with the answer. */
function forgetWarnings(chat: ReadyChat['chat']): readonly string[] {
  if (!chat?.forget) return []
  const { persona, forget, forgetLines = [] } = chat
  const named = (text: string) => JSON.stringify(text.slice(0, longestNamed))
  if (forget.length + forgetLines.length === 0)
    return ['No memory matches what is to be forgotten; the request is not remembered']
  if (chat.forgets === 'at_once')
    return [...forget.map(({ content }) => content), ...forgetLines.map(({ text }) => text)].map(
      (text) => `Forgotten with this answer: ${named(text)}`,
    )
  return [
    ...forget.map(({ id, content }) => `To forget ${named(content)}: aichat persona memory remove ${persona} ${id}`),
    ...forgetLines.map(({ id, text }) => `To forget ${named(text)}: aichat persona profile remove ${persona} ${id}`),
  ]
}

/** Characters of a memory that a warning names. */
const longestNamed = 100

const answerToolQuestion = defineOperation({
  name: 'chat.answer_tool',
  failures: [404],
  route: 'POST /api/chat/tools/:id',
  access: 'user',
  scope: 'chat',
  summary:
    'Allows or denies a call about which a stream with `tool_steps` asks, for the user and key of that stream, within five minutes.',
  input: z.strictObject({ id: z.string(), allow: z.boolean() }),
  output: z.object({ id: z.string(), allowed: z.boolean() }),
  run: async ({ app, caller }, { id, allow }) => {
    const { questions } = await app.toolServers()
    questions.answer(id, { user: caller.id, key: caller.key?.id }, allow)
    return { id, allowed: allow }
  },
})

export const previewChat = defineOperation({
  name: 'chat.preview',
  failures: [404, 422, 429],
  route: 'POST /api/chat/preview',
  access: 'user',
  scope: 'chat',
  summary:
    'Shows the request that a chat would send, without its key, and the memories that its persona would keep of the message.',
  limit: 32 * 1024 * 1024,
  input: chatInput,
  output: z.object({
    plugin: z.string().nullable(),
    runner: z.string().nullable(),
    model: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown(),
    warnings: z.array(z.string()),
    /** Whether the persona's model would be asked for facts behind the answer. */
    extract: z.exactOptional(z.literal('auto')),
    /** The parts of the message, and whether the persona would remember them; absent where nothing is remembered. */
    remember: z.exactOptional(
      z.array(
        z.object({
          content: z.string(),
          importance_score: z.exactOptional(z.number()),
          /** The reason against it. */
          refused: z.exactOptional(
            z.enum(['no words', 'small talk', 'request', 'code', 'secret', 'off the record', 'forget']),
          ),
        }),
      ),
    ),
  }),
  run: async (call, input) => {
    const ready = await prepareChat(call, await check(call, input))
    const { router } = await call.app.chat()
    const remember = ready.chat?.keeping?.map(({ content, importance, refusal }) => ({
      content,
      ...(importance !== undefined && { importance_score: importance }),
      ...(refusal && { refused: refusal }),
    }))
    const extract = ready.chat?.extract
    const preview = await router.preview(ready.routed)
    return {
      ...preview,
      warnings: [...preview.warnings, ...(ready.chat?.warnings ?? [])],
      ...(extract && { extract }),
      ...(remember && { remember }),
    }
  },
})

export const listChatModels = defineOperation({
  name: 'chat.models',
  route: 'GET /api/chat/models',
  access: 'user',
  scope: 'models',
  impersonal: true,
  summary:
    "Lists the models that a chat can name: the active plugin's, those of other usable plugins as `plugin:model`, and the local ones.",
  input: z.object({}),
  output: z.object({
    models: z.array(
      z.object({
        id: z.string(),
        /** Null for a model of this machine. */
        plugin: z.string().nullable(),
        ...modelFacts.shape,
      }),
    ),
  }),
  run: async ({ app, caller }) => {
    // A key that is bound to personas can name none of them.
    if (caller.key?.personas) return { models: [] }
    const permits = permitsOf(caller.key) ?? (() => true)
    const usable = app.plugins
      .list()
      .filter(({ type, active, state }) => (type === 'chat' || type === 'completion') && (active || state === 'ready'))
    const { ollama, embedded } = await app.chat()
    const running = ((await ollama.models()) ?? []).filter(({ embedding }) => !embedding)
    return {
      models: [
        ...usable.flatMap((view) => {
          const { id: plugin, active, model_map } = view
          return model_map
            .filter((model) => permits({ plugin, model }))
            .map((id) => ({ id: active ? id : `${plugin}:${id}`, plugin, ...app.facts.of(view, id) }))
        }),
        ...running
          .filter(({ name }) => permits({ plugin: null, model: name }))
          .map(({ name, row }) => ({ id: name, plugin: null, ...factsOfShow(row) })),
        ...embedded
          .models()
          .filter((model) => permits({ plugin: null, model }))
          .map((id) => ({ id, plugin: null })),
      ],
    }
  },
})

export const countTokens = defineOperation({
  name: 'chat.tokens',
  route: 'POST /api/chat/tokens',
  access: 'user',
  scope: 'chat',
  failures: [404],
  summary: 'Estimates the tokens of a chat, those added by its persona included, without asking its model.',
  limit: 32 * 1024 * 1024,
  input: chatInput,
  output: z.object({ input_tokens: z.int() }),
  run: async (call, input) => {
    const { routed } = await prepareChat(call, await check(call, input))
    return { input_tokens: estimateRequestTokens(routed.request as Countable) }
  },
})

export const chatOperations = [chat, answerToolQuestion, previewChat, listChatModels, countTokens]
