import { clientDialects } from '../../../src/chat/dialects/dialects.ts'
import { collectReply } from '../../../src/chat/protocol/chunks.ts'
import type { ClientDialect, Dialect } from '../../../src/chat/protocol/dialect.ts'
import type { ChatChunk, ChatReply, Message, Usage } from '../../../src/chat/protocol/messages.ts'

type Json = ReturnType<typeof JSON.parse>

/** A provider's side of a dialect. */
export type ProviderSide = Pick<ClientDialect, 'writeResponse' | 'createStreamWriter'> & {
  readRequest(body: unknown, url: string): ReturnType<ClientDialect['readRequest']>
}

/** A provider's side of each dialect: that of Gemini, which no client speaks here, is as much as the tests ask of it. */
export function providerSide(api: Dialect['id']): ProviderSide {
  return api === 'gemini' ? gemini : clientDialects[api]
}

const gemini: ProviderSide = {
  readRequest(body, url) {
    const { systemInstruction, contents, tools = [], generationConfig } = body as Json
    const schema = generationConfig?.responseJsonSchema
    const system = systemInstruction ? [{ role: 'system' as const, content: textOf(systemInstruction.parts) }] : []
    return {
      model: /models\/([^:/?#]+)/.exec(url)?.[1] ?? '',
      messages: [...system, ...contents.flatMap(turnOf)],
      tools: tools.flatMap(({ functionDeclarations }: Json) =>
        functionDeclarations.map((wire: Json) => ({ type: 'function', function: wire })),
      ),
      ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
      stream: url.includes(':stream'),
    }
  },
  writeResponse: (reply) => answerOf(reply, partsOf(reply.choices[0]!.message)),
  createStreamWriter() {
    const chunks: ChatChunk[] = []
    const event = (body: object) => `data: ${JSON.stringify(body)}\r\n\r\n`
    return {
      push(chunk) {
        chunks.push(chunk)
        const text = chunk.choices[0]?.delta.content
        return text ? event({ candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }] }) : ''
      },
      end() {
        const reply = collectReply(chunks)
        return event(answerOf(reply, partsOf({ ...reply.choices[0]!.message, content: null })))
      },
      fail: ({ message }) => event({ error: { code: 500, message, status: 'INTERNAL' } }),
    }
  },
}

/** Gemini's calls need no id: answers of tools name their functions. */
function turnOf({ role, parts }: Json): readonly Message[] {
  const calls = parts.filter((part: Json) => part.functionCall).map(({ functionCall: call }: Json) => call)
  if (role === 'model') {
    const made = calls.map(({ id, name, args }: Json) => ({
      id: id ?? name,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    return [{ role: 'assistant', content: textOf(parts), ...(made.length > 0 && { tool_calls: made }) }]
  }
  const answers = parts.flatMap(({ functionResponse: answer }: Json) => (answer ? [answer] : []))
  const messages = answers.map(({ id, name, response }: Json) => ({
    role: 'tool',
    tool_call_id: id ?? name,
    name,
    content: response.output ?? JSON.stringify(response),
  }))
  return answers.length < parts.length ? [...messages, { role: 'user', content: textOf(parts) }] : messages
}

function textOf(parts: Json): string {
  return parts.map(({ text }: Json) => text ?? '').join('')
}

function partsOf({ content, tool_calls: calls = [] }: Message): readonly object[] {
  const made = calls.map(({ id, function: { name, arguments: text }, extra_content: extra }) => ({
    functionCall: { id, name, args: JSON.parse(text) },
    ...(extra && { thoughtSignature: extra['google']!['thought_signature'] }),
  }))
  return [...(typeof content === 'string' ? [{ text: content }] : []), ...made]
}

function answerOf({ id, model, usage }: ChatReply, parts: readonly object[]): Record<string, unknown> {
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = usage as Usage
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: completion,
      cachedContentTokenCount: details?.cached_tokens,
    },
    modelVersion: model,
    responseId: id,
  }
}
