import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import xterm from '@xterm/headless'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openTerminal, type TestTerminal } from '../../helpers/program/pseudo-terminal.ts'
import { openFastHome, openTerminalHere } from '../../helpers/program/terminal.ts'
import { completionEvents, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'

/** A conversation at a terminal, with its screen as text. */
export interface ShownTalk extends TestTerminal {
  /** The lines of the window and of its scrollback, without empty ones at the end. */
  screen(): Promise<readonly string[]>
  /** Resolves once the text on the screen matches. */
  until(pattern: RegExp): Promise<void>
  /** Where the cursor stands. */
  cursor(): Promise<readonly [line: number, column: number]>
  /** Ends the conversation by Ctrl-D, and checks that the terminal is as it was. */
  leave(): Promise<void>
}

export interface TalkScene {
  readonly home: Home
  readonly provider: StandIn
  readonly environment: Readonly<Record<string, string>>
  /** The texts of the user in the last request. */
  asked(): readonly string[]
  /** Role and content of the messages of the last request. */
  sent(): readonly (readonly [string, unknown])[]
  /** Resolves when a request with SILENT has come. */
  readonly silent: Promise<unknown>
  /** Role and content of the messages in saved sessions, the latest first. */
  saved(): Promise<
    readonly { readonly name: string; readonly messages: readonly (readonly [string, string, boolean])[] }[]
  >
  talk(words?: readonly string[], options?: TalkOptions): Promise<ShownTalk>
}

interface TalkOptions {
  readonly size?: readonly [number, number]
  readonly environment?: Readonly<Record<string, string>>
  /** The screen at the start. */
  readonly begun?: RegExp
  /** Whether it is a process at a terminal of the system. */
  readonly isProcess?: boolean
}

/** The longest wait for a screen: milliseconds. */
const limitMs = 30_000

/** The sizes of windows in which a conversation is tried. */
export const sizes: readonly (readonly [columns: number, rows: number])[] = [
  [80, 24],
  [40, 10],
]

/**
 * A home with a provider that answers "heard: " and the question; to ENDLESS it only begins to answer, to SILENT it never
 * does, nor to ONCE a second time, to AGAIN it counts its answers, and to CALL it calls a tool.
 */
export async function scene(work: (scene: TalkScene) => Promise<void>): Promise<void> {
  const told = new EventEmitter()
  const silent = once(told, 'silent')
  let again = 0
  let times = 0
  const provider = await openStandIn((request, response) => {
    const { content } = JSON.parse(request.body).messages.at(-1)
    const text: string =
      typeof content === 'string' ? content : content.map(({ text: part }: { text?: string }) => part ?? '').join('')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    const [, tool] = /CALL (\w+)/.exec(text) ?? []
    if (tool !== undefined && JSON.parse(request.body).messages.at(-1).role === 'user') return call(response, tool)
    if (text.includes('SILENT')) return void told.emit('silent')
    if (text.includes('ONCE') && ++times > 1) return
    if (text.includes('ENDLESS')) return begin(response)
    const answer = text.includes('AGAIN') ? `answer ${++again}` : `heard: ${text}`
    const events = completionEvents([answer])
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
    events.splice(
      -1,
      0,
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [], usage })}\n\n`,
    )
    response.end(events.join(''))
  })
  const environment = { OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-of-the-test' }
  const home = openFastHome(environment)
  const open: ShownTalk[] = []
  try {
    const plugin = JSON.stringify(pluginAt(provider.url, { model_map: ['custom-model', 'other-model'] }))
    assert.is((await home.aichat(['plugin', 'install', '-', '--activate'], { input: plugin })).code, 0)
    const lastMessages = () =>
      JSON.parse(provider.received.at(-1)!.body).messages as { role: string; content: string }[]
    await work({
      home,
      provider,
      environment,
      silent,
      sent: () => lastMessages().map(({ role, content }) => [role, content] as const),
      asked: () => lastMessages().flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
      async saved() {
        const { sessions } = JSON.parse((await home.aichat(['session', 'list', '--json'])).stdout)
        const found = []
        for (const { id } of sessions) {
          const { name, messages } = JSON.parse((await home.aichat(['session', 'show', id, '--json'])).stdout)
          found.push({
            name,
            messages: messages.map(
              ({ role, content, cut = false }: { role: string; content: string; cut?: boolean }) =>
                [role, content, cut] as const,
            ),
          })
        }
        return found
      },
      async talk(words = [], { size = sizes[0]!, environment: more = {}, begun = /^> $/m, isProcess = false } = {}) {
        const talk = await openShown(home.folder, ['chat', ...words], { ...environment, ...more }, size, isProcess)
        open.push(talk)
        await talk.until(begun)
        return talk
      },
    })
  } finally {
    for (const talk of open) {
      talk.hangUp()
      await talk.ended()
    }
    await provider.close()
    home.remove()
  }
}

/** Answers with some words and a call of a tool. */
function call(response: ServerResponse, name: string): void {
  const [first, words, last, done] = completionEvents(['I look. '])
  const event = JSON.parse(words!.slice('data: '.length))
  const tool_calls = [{ index: 0, id: 'call_0', type: 'function', function: { name, arguments: '{"text":"x"}' } }]
  event.choices[0].delta = { tool_calls }
  const finish = last!.replace('"stop"', '"tool_calls"')
  response.end([first, words, `data: ${JSON.stringify(event)}\n\n`, finish, done].join(''))
}

function begin(response: ServerResponse): void {
  response.write(completionEvents(['Once upon **a** time']).slice(0, 2).join(''))
}

/** Opens a command at a terminal whose screen can be read. */
export async function openShown(
  folder: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  [columns, rows]: readonly [number, number],
  isProcess: boolean,
): Promise<ShownTalk> {
  const emulator = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 5_000,
    allowProposedApi: true,
    // As in tmux and most terminals, but not in that of VS Code.
    reflowCursorLine: environment['TERM_PROGRAM'] !== 'vscode',
  })
  const told = new EventEmitter()
  const heard = (text: string) => {
    emulator.write(text)
    told.emit('heard')
  }
  const options = { size: [columns, rows], heard } as const
  const terminal = isProcess
    ? await openTerminal(folder, words, environment, options)
    : openTerminalHere(words, { AICHAT_HOME: folder, HOME: folder, ...environment }, options)
  const flushed = () => new Promise<void>((resolve) => emulator.write('', resolve))
  const screen = async () => {
    await flushed()
    const { active } = emulator.buffer
    const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)!.translateToString(true))
    while (lines.at(-1) === '') lines.pop()
    return lines
  }
  const until = async (pattern: RegExp) => {
    const late = AbortSignal.timeout(limitMs)
    for (;;) {
      const more = once(told, 'heard', { signal: late })
      more.catch(() => {})
      const text = (await screen()).join('\n')
      if (pattern.test(text)) return
      await more.catch(() => {
        throw new Error(`The screen does not show ${pattern}:\n${text}`)
      })
    }
  }
  return {
    ...terminal,
    screen,
    until,
    async cursor() {
      await flushed()
      const { active } = emulator.buffer
      return [active.baseY + active.cursorY, active.cursorX]
    },
    resize(width, height) {
      emulator.resize(width, height)
      terminal.resize(width, height)
    },
    async leave() {
      terminal.type('\x04')
      assert.equal(await terminal.ended(), { code: 0, restored: true }, terminal.shown())
    },
  }
}
