import { z } from 'zod'
import type { ChatChunk, ChatRequest } from '../chat/messages.ts'
import type { RouteReport } from '../chat/router.ts'
import { AppError } from '../errors.ts'
import { type Call, defineOperation } from './operation.ts'

const part = z.looseObject({ type: z.string() })

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part), z.null()]).default(null),
})

/** A chat completions request whose model may be left out, and what is ours beside it. */
export const chatInput = z.looseObject({
  messages: z.array(message).min(1, 'must hold at least one message'),
  model: z.exactOptional(z.string().max(300)),
  plugin: z.exactOptional(z.string()),
  persona: z.exactOptional(z.string()),
  session: z.exactOptional(z.string()),
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
export const routeReport = z.looseObject({
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  model: z.string(),
  fallback: z.boolean(),
  attempts: z.array(attempt),
  warnings: z.array(z.string()),
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
  method: 'POST',
  path: '/api/chat',
  access: 'user',
  summary: 'Answers a conversation: by the active plugin, and if that fails by the local model runner.',
  limit: 32 * 1024 * 1024,
  input: chatInput,
  output: chatOutput,
  run: async (call, input) => {
    const { router } = await call.app.chat()
    const { reply, report } = await router.complete(routed(input), call.signal)
    return { ...reply, choices: reply.choices.map((choice) => ({ ...choice })), aichat: plain(report) }
  },
  stream: {
    wanted: (input) => input.stream === true,
    run: async (call, input) => {
      const { chunks, report } = await openChatStream(call, input)
      return { chunks: withReport(chunks, report), headers: reportHeaders(report) }
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

/** The headers that say who answered. */
export function reportHeaders(report: RouteReport): Record<string, string> {
  return {
    'x-aichat-plugin': report.plugin ?? `local:${report.runner}`,
    'x-aichat-attempts': String(report.attempts.reduce((sum, { tries }) => sum + tries, 0)),
    'x-aichat-fallback': String(report.fallback),
  }
}

/** The request as a provider may see it, apart from what is ours alone. */
export function routed({ plugin, fallback, persona, session, ...request }: ChatInput) {
  if (persona !== undefined || session !== undefined) {
    throw new AppError('invalid', 'Invalid chat request', { details: ['persona and session are not available'] })
  }
  return { request: request as Partial<ChatRequest> & Pick<ChatRequest, 'messages'>, plugin, fallback }
}

/** The first chunk says who answers, so that a client need not read headers. */
async function* withReport(chunks: AsyncIterable<ChatChunk>, report: RouteReport): AsyncGenerator<ChatChunk> {
  let first = true
  for await (const chunk of chunks) {
    yield first ? { ...chunk, aichat: plain(report) } : chunk
    first = false
  }
}

function plain(report: RouteReport): z.input<typeof routeReport> {
  return { ...report, attempts: report.attempts.map((attempt) => ({ ...attempt })), warnings: [...report.warnings] }
}

export const previewChat = defineOperation({
  name: 'chat.preview',
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
  run: async ({ app }, input) => {
    const { router } = await app.chat()
    const preview = await router.preview(routed(input))
    return { ...preview, warnings: [...preview.warnings] }
  },
})

export const chatOperations = [chat, previewChat]
