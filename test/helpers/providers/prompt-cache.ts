import type { Usage } from '../../../src/chat/protocol/messages.ts'

type Body = Readonly<Record<string, unknown>>
type Block = Readonly<Record<string, unknown>>

/** Characters of JSON that count as one token here. */
const perToken = 4
/** Tokens of the shortest prefix that is cached. */
const leastTokens = 1024
/** The blocks before a mark in which Anthropic looks for an earlier entry. */
const lookback = 20

/**
 * Counts as Anthropic's prompt cache does: entries are written where a request is marked, and read at a mark or up to 20
 * blocks before it (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching). Throws where a request has more
 * than the four marks that the service accepts.
 */
export function markedCache(): (body: Body) => Usage {
  const entries = new Set<string>()
  return (body) => {
    const blocks = blocksIn(body)
    const marked = blocks.flatMap(({ cache_control: mark }, at) => (mark === undefined ? [] : [at]))
    if (marked.length > 4) throw new Error(`${marked.length} marks`)
    const plain = blocks.map(({ cache_control: _mark, ...block }) => JSON.stringify(block))
    const prefixTo = (at: number) => plain.slice(0, at + 1).join('')
    let read = 0
    for (const mark of marked)
      for (let at = mark; at >= Math.max(0, mark - lookback); at--)
        if (entries.has(prefixTo(at))) {
          read = Math.max(read, tokensOf(prefixTo(at)))
          break
        }
    const written = marked.map(prefixTo).filter((prefix) => tokensOf(prefix) >= leastTokens)
    for (const prefix of written) entries.add(prefix)
    const writes = Math.max(0, ...written.map(tokensOf)) - read
    return usageOf(tokensOf(plain.join('')), read, Math.max(0, writes))
  }
}

/** Counts as providers do that cache by themselves: what a request has in common with the beginning of an earlier one. */
export function prefixCache(field: 'messages' | 'contents'): (body: Body) => Usage {
  const earlier: string[] = []
  return (body) => {
    const text = JSON.stringify([body['tools'], body['systemInstruction'], body[field]])
    const tokens = Math.max(0, ...earlier.map((each) => tokensOf(text.slice(0, commonLength(each, text)))))
    earlier.push(text)
    return usageOf(tokensOf(text), tokens < leastTokens ? 0 : tokens - (tokens % 128), 0)
  }
}

/** Tools, system prompt and messages in the order in which Anthropic reads them. */
function blocksIn({ tools, system, messages }: Body): readonly Block[] {
  const turns = messages as readonly { readonly role: string; readonly content: unknown }[]
  return [
    ...((tools ?? []) as readonly Block[]),
    ...contentBlocks(system ?? []),
    ...turns.flatMap(({ role, content }) => contentBlocks(content).map((block) => ({ role, ...block }))),
  ]
}

function contentBlocks(content: unknown): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Block[])
}

function commonLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / perToken)
}

function usageOf(input: number, cached: number, written: number): Usage {
  return {
    prompt_tokens: input,
    completion_tokens: 2,
    total_tokens: input + 2,
    prompt_tokens_details: { cached_tokens: cached, ...(written > 0 && { cache_write_tokens: written }) },
  }
}
