import { extname } from 'node:path'
import type { ReadStream } from 'node:tty'
import { type ContentPart, type Message, textOf } from '../chat/messages.ts'
import { AppError } from '../errors.ts'
import { chat, previewChat } from '../operations/chat.ts'
import type { Settings } from '../settings.ts'
import type { ChatOptions } from './chat-options.ts'
import { type Cli, mayAsk, note, printJson, show } from './cli.ts'
import { readInput } from './files.ts'
import { forTerminal } from './io.ts'

const images: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Who answered and what was tried before, as the operation reports it. */
interface Report {
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
  readonly fallback: boolean
  readonly attempts: readonly {
    readonly plugin: string | null
    readonly runner: string | null
    readonly outcome: string
    readonly error?: unknown
  }[]
  readonly warnings: readonly string[]
}

/** One question when there is something to ask; else a conversation, if somebody sits at the terminal. */
export async function runChat(cli: Cli, words: string, options: ChatOptions): Promise<void> {
  const piped = cli.io.stdinIsGiven() ? (await cli.io.readStdin()).toString('utf8').trimEnd() : ''
  const text = [words, piped].filter(Boolean).join('\n\n')
  const files = await Promise.all((options.file ?? []).map((path) => filePart(cli, path)))
  if (text === '' && files.length === 0) {
    if (!options.dryRun && (await mayAsk(cli))) return converse(cli, options)
    throw new AppError('usage', 'There is nothing to ask: give a text, pipe one in, or name a file with -f')
  }
  const messages = [...systemMessage(options), userMessage(text, files)]
  const { chatSession } = await import('./chat-session.ts')
  const { session: _name, ...rest } = options
  const chosen = { ...rest, ...(await chatSession(cli, options)) }
  if (options.dryRun) return preview(cli, messages, chosen)
  await ask(cli, messages, chosen)
}

async function preview(cli: Cli, messages: readonly Message[], options: ChatOptions): Promise<void> {
  const request = await cli.ask(previewChat, input(messages, options, await defaults(cli)))
  await printJson(cli, request)
}

/** Asks and prints; returns the answer's text. `offering` goes around a question that is put to the user on the way. */
async function ask(
  cli: Cli,
  messages: readonly Message[],
  options: ChatOptions,
  offering = (offer: () => Promise<boolean>) => offer(),
): Promise<string> {
  const request = input(messages, options, await defaults(cli))
  const answer = options.stream && !cli.globals().json ? streamAnswer : wholeAnswer
  try {
    return await answer(cli, request)
  } catch (reason) {
    const { offerModel } = await import('./models-pull.ts')
    if (!(await offering(() => offerModel(cli, reason)))) throw reason
    return answer(cli, request)
  }
}

async function wholeAnswer(cli: Cli, request: ReturnType<typeof input>): Promise<string> {
  const reply = await cli.ask(chat, { ...request, stream: false })
  const message = (reply.choices[0] as { message?: Message } | undefined)?.message
  const text = textOf(message?.content)
  const calls = message?.tool_calls ?? []
  await show(cli, reply, () => onTerminal(cli, text || (calls.length > 0 ? JSON.stringify(calls, null, 2) : '')))
  remark(cli, reply.aichat as unknown as Report)
  return text
}

async function streamAnswer(cli: Cli, request: ReturnType<typeof input>): Promise<string> {
  let text = ''
  let report: Report | undefined
  const calls: unknown[] = []
  for await (const piece of await cli.askStream(chat, { ...request, stream: true })) {
    const chunk = piece as {
      choices?: { delta?: { content?: string | null; tool_calls?: unknown[] } }[]
      aichat?: Report
    }
    report ??= chunk.aichat
    const delta = chunk.choices?.[0]?.delta
    calls.push(...(delta?.tool_calls ?? []))
    if (!delta?.content) continue
    text += delta.content
    await cli.io.out(onTerminal(cli, delta.content))
    if (cli.io.outClosed) return text
  }
  if (text === '' && calls.length > 0) await cli.io.out(`${onTerminal(cli, JSON.stringify(calls))}\n`)
  if (text !== '' && !text.endsWith('\n')) await cli.io.out('\n')
  if (report) remark(cli, report)
  return text
}

/** Says on stderr what a reader of the answer should know: that somebody else answered, and why; with -v who in any case. */
function remark(cli: Cli, report: Report): void {
  for (const warning of report.warnings) note(cli, `aichat: ${warning}`)
  const who = report.plugin ?? `the local runner (${report.model})`
  if (!report.fallback) {
    if (cli.globals().verbose) note(cli, `aichat: answered by ${report.plugin ? `${who} (${report.model})` : who}`)
    return
  }
  for (const { plugin, runner, outcome, error } of report.attempts) {
    if (outcome === 'failed') note(cli, `aichat: ${plugin ?? runner} failed: ${String(error)}`)
  }
  note(cli, `aichat: answered by ${who} instead`)
}

/** A conversation at the terminal, saved: the questions on stderr, the answers on stdout. Ctrl-D ends it. */
async function converse(cli: Cli, options: ChatOptions): Promise<void> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({
    input: cli.io.stdin,
    output: cli.io.stderr as NodeJS.WritableStream,
    terminal: true,
  })
  const { terminalSession } = await import('./chat-session.ts')
  const { session, answered, end } = await terminalSession(cli, options)
  const system = systemMessage(options)
  note(cli, 'Ask something; Ctrl-D ends the conversation.')
  const stop = () => terminal.close()
  cli.io.signal.addEventListener('abort', stop, { once: true })
  terminal.on('SIGINT', stop)
  const answers = answersAmong(terminal, cli.io.stdin)
  terminal.setPrompt('> ')
  terminal.prompt()
  // One line at a time, in order: an answer is finished before the next question is read.
  for await (const line of terminal) {
    if (answers.isNext()) continue
    if (line.trim() !== '') {
      const question = userMessage(line, [])
      try {
        // What was said before is in the saved conversation, and the core puts it in front.
        await ask(cli, [...system, question], { ...options, session }, answers.during)
        answered()
      } catch (reason) {
        if (!(reason instanceof AppError)) throw reason
        // A failed question is not part of the conversation; the user may ask again.
        cli.io.err(forTerminal(`aichat: ${[reason.message, ...reason.details].join('\n  ')}`))
      }
    }
    terminal.prompt()
  }
  cli.io.err('')
  if (!cli.io.signal.aborted) await end()
}

/** Tells the lines that answer a question of ours from those that ask the model: readline hears both. */
function answersAmong(terminal: { on(event: 'line', heard: () => void): unknown }, keyboard: Cli['io']['stdin']) {
  const answers = new Set<number>()
  let answering = false
  let heard = 0
  let read = 0
  terminal.on('line', () => {
    if (answering) answers.add(heard)
    heard += 1
  })
  return {
    /** Whether the next line read is an answer; to be asked once for each. */
    isNext: () => answers.delete(read++),
    async during<T>(question: () => Promise<T>): Promise<T> {
      answering = true
      try {
        return await question()
      } finally {
        answering = false
        // The question left the keyboard as it is when nobody reads it.
        ;(keyboard as Partial<ReadStream>).setRawMode?.(true)
        keyboard.resume()
      }
    },
  }
}

function input(messages: readonly Message[], options: ChatOptions, fallback: Defaults) {
  const persona = options.persona ?? options.role ?? fallback.persona
  // A persona has a model of its own, which only a model named on the command line replaces.
  const model = options.model ?? (persona === undefined ? fallback.model : undefined)
  return {
    messages: messages.map((message) => ({
      ...message,
      content:
        typeof message.content === 'string' ? message.content : (message.content?.map((part) => ({ ...part })) ?? null),
    })),
    ...(model !== undefined && { model }),
    ...(persona !== undefined && { persona }),
    ...(options.session !== undefined && { session: options.session }),
    memory: options.memory,
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.maxTokens !== undefined && { max_tokens: options.maxTokens }),
    fallback: options.fallback,
    stream: options.stream,
  }
}

type Defaults = Pick<Settings, 'model' | 'persona'>

async function defaults(cli: Cli): Promise<Defaults> {
  return cli.settings()
}

function systemMessage(options: ChatOptions): readonly Message[] {
  return options.prompt === undefined ? [] : [{ role: 'system', content: options.prompt }]
}

function userMessage(text: string, files: readonly ContentPart[]): Message {
  if (files.length === 0) return { role: 'user', content: text }
  return { role: 'user', content: [...files, ...(text === '' ? [] : [{ type: 'text' as const, text }])] }
}

/** An image as a data URL; anything else as text under its name. */
async function filePart(cli: Cli, path: string): Promise<ContentPart> {
  const bytes = await readInput(cli.io, path, 20 * 1024 * 1024)
  const type = images[extname(path).toLowerCase()]
  if (type) return { type: 'image_url', image_url: { url: `data:${type};base64,${bytes.toString('base64')}` } }
  try {
    return { type: 'text', text: `${path}:\n\n${new TextDecoder('utf-8', { fatal: true }).decode(bytes)}` }
  } catch (cause) {
    throw new AppError('invalid', `${path} is neither text nor an image (png, jpg, gif, webp)`, { cause })
  }
}

/** What a model writes must not steer the terminal. */
function onTerminal(cli: Cli, text: string): string {
  return cli.io.stdoutIsTerminal ? forTerminal(text) : text
}
