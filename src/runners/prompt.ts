import { Template } from '@huggingface/jinja'
import { Tokenizer } from '@huggingface/tokenizers'
import { AppError } from '../errors.ts'

/** A message in the form that chat templates take. */
export interface PlainMessage {
  readonly role: string
  readonly content: string
}

/** Turns conversations into tokens and tokens into text. */
export type PromptWriter = ReturnType<typeof createPromptWriter>

export interface PromptFiles {
  readonly tokenizer: object
  readonly configuration: Readonly<Record<string, unknown>>
  /** The template, when it has a file of its own. */
  readonly template?: string | undefined
}

/** Compiles the tokenizer and the chat template of a model. Throws `invalid` for a model without a template. */
export function createPromptWriter({ tokenizer: description, configuration, template }: PromptFiles) {
  const tokenizer = new Tokenizer(description, configuration)
  const source = template ?? templateIn(configuration['chat_template'])
  if (source === undefined) throw new AppError('invalid', 'The model has no chat template: it is not a chat model')
  const compiled = new Template(source)
  const special = specialTokens(tokenizer)

  return {
    /**
     * The tokens of a conversation, at most `limit` of them: the oldest turns of a longer one are dropped, never
     * the system prompt and the last turn. Throws `too_large` when these alone are too long.
     */
    write(messages: readonly PlainMessage[], limit: number): readonly number[] {
      const clean = messages.map(({ role, content }) => ({ role, content: withoutTokens(content) }))
      const system = clean.slice(0, firstTurn(clean))
      const turns = turnsOf(clean.slice(system.length))
      const tokensFrom = (first: number) => encode([...system, ...turns.slice(first).flat()])
      const whole = tokensFrom(0)
      if (whole.length <= limit) return whole
      // Binary search for the fewest turns to drop: fewer turns are shorter.
      let [low, high] = [1, Math.max(0, turns.length - 1)]
      while (low < high) {
        const middle = (low + high) >> 1
        if (tokensFrom(middle).length <= limit) high = middle
        else low = middle + 1
      }
      const last = tokensFrom(high)
      if (last.length > limit)
        throw new AppError(
          'too_large',
          `The message is longer than the ${limit} tokens that the model can read at once`,
        )
      return last
    },
    decode: (ids: readonly number[]) =>
      ids.length === 0
        ? ''
        : tokenizer.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: false }),
  }

  function encode(messages: readonly PlainMessage[]): readonly number[] {
    const text = render(messages)
    return tokenizer.encode(text, { add_special_tokens: false }).ids
  }

  function render(messages: readonly PlainMessage[]): string {
    try {
      return compiled.render({
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: true,
        bos_token: tokenText(configuration['bos_token']),
        eos_token: tokenText(configuration['eos_token']),
      })
    } catch (cause) {
      const words = cause instanceof Error ? cause.message : String(cause)
      throw new AppError('invalid', `The model's chat template refuses this conversation: ${words.slice(0, 200)}`, {
        cause,
      })
    }
  }

  /** Breaks up text that spells one of the model's control tokens, which could end its own message. */
  function withoutTokens(text: string): string {
    return special ? text.replace(special, (token) => `${token.charAt(0)}\u200b${token.slice(1)}`) : text
  }
}

/** Counts the system messages at the beginning. */
function firstTurn(messages: readonly PlainMessage[]): number {
  const at = messages.findIndex(({ role }) => role !== 'system')
  return at < 0 ? messages.length : at
}

/** Groups messages into turns: a user's message and its answers. */
function turnsOf(messages: readonly PlainMessage[]): PlainMessage[][] {
  const turns: PlainMessage[][] = []
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([message])
    else turns.at(-1)!.push(message)
  }
  return turns
}

function specialTokens(tokenizer: Tokenizer): RegExp | undefined {
  const tokens = [...tokenizer.get_added_tokens_decoder().values()]
    .filter((token) => token.special)
    .map((token) => token.content)
    .filter((content) => content.length > 1)
    .sort((a, b) => b.length - a.length)
  const escaped = tokens.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return escaped.length > 0 ? new RegExp(escaped.join('|'), 'g') : undefined
}

/** Takes the template from a text, or from a list of named templates with a default. */
function templateIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return undefined
  const named = value as { name?: unknown; template?: unknown }[]
  const found = named.find(({ name }) => name === 'default') ?? named[0]
  return typeof found?.template === 'string' ? found.template : undefined
}

function tokenText(token: unknown): string {
  if (typeof token === 'string') return token
  const content = (token as { content?: unknown } | null | undefined)?.content
  return typeof content === 'string' ? content : ''
}
