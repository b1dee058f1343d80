import { z } from 'zod'
import type { ChatChunk, ChatRequest, Message } from '../chat/protocol/messages.ts'
import type { ChatCall, RouteReport } from '../chat/router.ts'
import { textLength } from '../chat/text-length.ts'
import { AppError, toAppError } from '../errors.ts'
import { nextStage } from '../formats/json-writer.ts'
import type { PreparedChat } from '../personas/chat/persona-chat.ts'
import type { Settings } from '../settings/settings.ts'
import { type Call, defineOperation } from './operation.ts'

const part = z.looseObject({ type: z.string() })

/** OpenAI's own service takes 2,048 messages. */
const mostMessages = 5000
const mostParts = 1000
const mostTools = 1000

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z
    .union([z.string(), z.array(part).max(mostParts), z.null()], `must be text or a list of at most ${mostParts} parts`)
    .default(null),
})

/** A chat completions request whose model may be left out, and what is ours beside it. */
const chatInput = z.looseObject({
  messages: z
    .array(message)
    .min(1, 'must hold at least one message')
    .max(mostMessages, `must hold at most ${mostMessages} messages`),
  model: z.exactOptional(z.string().max(300)),
  tools: z.exactOptional(z.array(z.unknown()).max(mostTools).nullable()),
  plugin: z.exactOptional(z.string()),
  persona: z.exactOptional(z.string()),
  session: z.exactOptional(z.string()),
  /** False keeps the persona from looking into its memories and from making new ones. */
  memory: z.boolean().default(true),
  stream: z.boolean().nullable().default(false),
  temperature: z.exactOptional(z.number().min(0).max(2).nullable()),
  top_p: z.exactOptional(z.number().min(0).max(1).nullable()),
  max_tokens: z.exactOptional(z.int().min(1).nullable()),
  max_completion_tokens: z.exactOptional(z.int().min(1).nullable()),
  fallback: z.boolean().default(true),
})

export type ChatInput = z.output<typeof chatInput>

const attempt = z.looseObject({
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  model: z.string(),
  tries: z.int(),
  outcome: z.enum(['answered', 'failed']),
})

/** Who answered, and what was tried before. */
const routeReport = z.looseObject({
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  model: z.string(),
  fallback: z.boolean(),
  attempts: z.array(attempt),
  warnings: z.array(z.string()),
  /** The persona's memories that were placed in the request, best first. */
  memories: z.exactOptional(z.array(z.object({ id: z.string(), score: z.number() }))),
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
  method: 'POST',
  path: '/api/chat',
  access: 'user',
  summary: 'Answers a conversation: by the active plugin, and if that fails by the local model runner.',
  limit: 32 * 1024 * 1024,
  input: chatInput,
  output: chatOutput,
  run: async (call, input) => {
    const [{ router }, prepared] = await Promise.all([call.app.chat(), prepare(call, input)])
    const { reply, report } = await router.complete(prepared.routed, call.signal)
    const answer = reply.choices[0]?.message
    const warnings = answer ? await kept(prepared, answer) : []
    const choices = reply.choices.map((choice) => ({ ...choice }))
    return { ...reply, choices, aichat: { ...plain(report, prepared), warnings: [...report.warnings, ...warnings] } }
  },
  stream: {
    wanted: (input) => input.stream === true,
    run: async (call, input) => {
      const [{ router }, prepared] = await Promise.all([call.app.chat(), prepare(call, input)])
      const { chunks, report } = await router.stream(prepared.routed, call.signal)
      return { chunks: withReport(chunks, report, prepared), headers: reportHeaders(report) }
    },
  },
})

/** A streamed chat at its commit point; also what the dialect routes show in their own words. */
export async function openChatStream(
  call: Call,
  input: ChatInput,
): Promise<{ chunks: AsyncIterable<ChatChunk>; report: RouteReport }> {
  const { router } = await call.app.chat()
  return router.stream(routed(input), call.signal)
}

/**
 * Throws `too_large` for a chat with more text than `limits.chat_text` says. Pictures and files do not count: they are passed on
 * as they are, while text is read, converted and searched.
 */
export function boundText({ limits }: Pick<Settings, 'limits'>, { messages, tools }: ChatInput): void {
  if (textLength({ messages, tools }) <= limits.chatText) return
  throw new AppError('too_large', `The chat holds more than ${limits.chatText} characters of text`, {
    details: ['Leave out or shorten its oldest messages; limits.chat_text says how many there may be'],
  })
}

interface Prepared {
  readonly routed: ChatCall
  readonly chat?: PreparedChat
}

/** The request with what a persona and a saved conversation add; neither is opened for a chat without them. */
async function prepare({ app, caller, signal }: Call, input: ChatInput): Promise<Prepared> {
  boundText(app.settings, input)
  const { persona, session, memory, ...plainInput } = input
  const { request: asked, plugin, fallback } = routed({ ...plainInput, memory })
  const isOver = () => signal?.aborted === true
  await nextStage(asked, isOver)
  const request = await read(asked)
  await nextStage(request, isOver)
  if (persona === undefined && session === undefined) return { routed: { request, plugin, fallback } }
  const area = await app.personas()
  const chat = await area.chat.prepare({ owner: caller.id, persona, session, memory, plugin, request, signal })
  return { routed: { request: chat.request, plugin, fallback }, chat }
}

/** The request as OpenAI's dialect reads it; a model that is left out stays left out. Throws `invalid` for what it cannot be. */
async function read({ model, ...request }: ChatCall['request']): Promise<ChatCall['request']> {
  const { readOpenaiRequest } = await import('../chat/dialects/openai/request-writer.ts')
  const { model: _none, ...checked } = readOpenaiRequest(request)
  return { ...checked, ...(model !== undefined && { model }) }
}

/** Keeps what was said. The answer is there already: what cannot be kept is a warning beside it, not an error in its place. */
async function kept({ chat }: Prepared, answer: Message): Promise<readonly string[]> {
  try {
    await chat?.finish(answer)
    return []
  } catch (reason) {
    return [`What was said could not be kept: ${toAppError(reason).message}`]
  }
}

/** The headers that say who answered. */
export function reportHeaders(report: RouteReport): Record<string, string> {
  return {
    'x-aichat-plugin': report.plugin ?? `local:${report.runner}`,
    'x-aichat-attempts': String(report.attempts.reduce((sum, { tries }) => sum + tries, 0)),
    'x-aichat-fallback': String(report.fallback),
    ...(report.warnings.length > 0 && {
      'x-aichat-warnings': report.warnings
        .join('; ')
        .replace(/[^\x20-\x7e]/g, '?')
        .slice(0, 1000),
    }),
  }
}

/** The request as a provider may see it, apart from what is ours alone. */
export function routed({ plugin, fallback, persona, session, memory: _memory, ...request }: ChatInput) {
  if (persona !== undefined || session !== undefined) {
    throw new AppError('invalid', 'Invalid chat request', { details: ['persona and session are for /api/chat'] })
  }
  return { request: request as Partial<ChatRequest> & Pick<ChatRequest, 'messages'>, plugin, fallback }
}

/** The first chunk says who answers, so that a client need not read headers; what was said is kept before the end. */
async function* withReport(
  chunks: AsyncIterable<ChatChunk>,
  report: RouteReport,
  prepared: Prepared,
): AsyncGenerator<ChatChunk> {
  const seen: ChatChunk[] = []
  let last: ChatChunk | undefined
  for await (const chunk of chunks) {
    yield last ? chunk : { ...chunk, aichat: plain(report, prepared) }
    last = chunk
    if (prepared.chat) seen.push(chunk)
  }
  if (!prepared.chat || !last) return
  const { collectReply } = await import('../chat/protocol/chunks.ts')
  const answer = collectReply(seen).choices[0]?.message ?? { role: 'assistant', content: '' }
  const warnings = await kept(prepared, answer)
  if (warnings.length > 0) yield { ...last, choices: [], usage: null, aichat: { warnings } }
}

function plain(report: RouteReport, { chat }: Prepared): z.input<typeof routeReport> {
  return {
    ...report,
    attempts: report.attempts.map((attempt) => ({ ...attempt })),
    warnings: [...report.warnings],
    ...(chat && { memories: chat.memories.map((memory) => ({ ...memory })) }),
  }
}

export const previewChat = defineOperation({
  name: 'chat.preview',
  failures: [404, 422, 429],
  method: 'POST',
  path: '/api/chat/preview',
  access: 'user',
  summary: 'Shows the request that a chat would send, without its key, and sends nothing.',
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
  }),
  run: async (call, input) => {
    const [{ router }, prepared] = await Promise.all([call.app.chat(), prepare(call, input)])
    const preview = await router.preview(prepared.routed)
    return { ...preview, warnings: [...preview.warnings] }
  },
})

export const chatOperations = [chat, previewChat]
