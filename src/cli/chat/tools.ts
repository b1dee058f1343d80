import { isElsewhere, openToolServers } from '../../app/app.ts'
import { type AskedCall, createToolbox, notHere, type Toolbox, type ToolServer } from '../../chat/chat.ts'
import { toAppError } from '../../errors.ts'
import { escapedJson } from '../../formats/formats.ts'
import type { Cli } from '../terminal/cli.ts'
import { isLocalOnly } from '../terminal/local-only.ts'
import { note } from '../terminal/output.ts'
import { askTerminal, canAsk } from '../terminal/prompts.ts'

/** Runs a question while something else has the terminal. */
export type Lend = <T>(ask: () => Promise<T>) => Promise<T>

/** The most characters of arguments that a question shows, and that a remark shows. */
const longestShown = 4_000
const longestRemark = 200

/**
 * Opens the tools of servers for the chats of this command; undefined without a server. Servers that are asked for must answer;
 * those that only a persona names are left out with a remark.
 */
export async function openChatTools(
  cli: Cli,
  { asked, wished }: { readonly asked: readonly string[]; readonly wished: readonly string[] },
): Promise<(Toolbox & { lend(lend: Lend): void }) | undefined> {
  const names = [...new Set([...asked, ...wished])]
  if (names.length === 0) return undefined
  const servers = openToolServers(await cli.settings())
  const open: ToolServer[] = []
  try {
    for (const name of names) {
      try {
        if ((await isLocalOnly(cli)) && isElsewhere(servers.list, name))
          throw notHere(`The tool server ${name}`, 'it is on another machine')
        open.push(await servers.open(name, cli.signal()))
      } catch (thrown) {
        if (asked.includes(name)) throw thrown
        note(cli, `aichat: the tools of ${name} are left out: ${toAppError(thrown).message}`)
      }
    }
  } catch (thrown) {
    await Promise.all(open.map((server) => server.close()))
    await servers.close()
    throw thrown
  }
  const approvals = createApprovals(cli, servers.list, await canAsk(cli))
  const toolbox = createToolbox({
    servers: open,
    ...approvals,
    onCall: ({ server, tool, arguments: given }) =>
      note(cli, `aichat: ${server}: ${tool} ${shown(given).slice(0, longestRemark)}`),
  })
  return {
    ...toolbox,
    lend: approvals.lend,
    async close() {
      await toolbox.close()
      await servers.close()
    },
  }
}

type Decisions = Pick<ReturnType<typeof openToolServers>['list'], 'decisions' | 'decide'>

/** Approves calls: by earlier decisions, else by a question where the terminal allows one. */
function createApprovals(cli: Cli, list: Decisions, asks: boolean) {
  const session = new Set<string>()
  let lend: Lend = (ask) => ask()

  return {
    lend(through: Lend) {
      lend = through
    },
    isOffered(server: string, tool: string, pin: string): boolean {
      const before = decided(server, tool)
      return before?.decision !== 'never' && (asks || (before?.decision === 'always' && before.pin === pin))
    },
    async approve(call: AskedCall, signal?: AbortSignal): Promise<true | string> {
      const { server, tool, pin } = call
      const before = decided(server, tool)
      if (before?.decision === 'never') return 'The user never allows this tool'
      if (session.has(pin) || (before?.decision === 'always' && before.pin === pin)) return true
      const changed = before?.decision === 'always'
      if (!asks) {
        note(cli, `aichat: not called: allow it first: aichat mcp allow ${server} ${tool}`)
        return changed ? 'The tool has changed since it was allowed' : 'The user has not allowed this tool'
      }
      signal?.throwIfAborted()
      const answer = await lend(() => question(cli, call, changed))
      if (answer === 'session') session.add(pin)
      if (answer === 'always' || answer === 'never') list.decide({ server, tool, pin, decision: answer })
      return answer === 'no' || answer === 'never' ? 'The user does not allow this call' : true
    },
  }

  function decided(server: string, tool: string) {
    return list.decisions().find((made) => made.server === server && made.tool === tool && !made.service)
  }
}

const answers = { o: 'once', s: 'session', a: 'always', n: 'no', v: 'never' } as const

/** Asks about a call; Enter alone is a no. */
async function question(
  cli: Cli,
  { server, tool, description, arguments: given }: AskedCall,
  changed: boolean,
): Promise<(typeof answers)[keyof typeof answers]> {
  cli.io.err(
    [
      `aichat: the model wants to call ${escaped(tool)} of ${server}${changed ? ', which has changed since it was allowed' : ''}`,
      ...(description === '' ? [] : [`  ${escaped(description.replace(/\s+/g, ' ')).slice(0, 300)}`]),
      `  ${shown(given)}`,
    ].join('\n'),
  )
  for (;;) {
    const typed = await askTerminal<string>(cli, {
      type: 'input',
      message: 'Call it? (o)nce, this (s)ession, (a)lways, (n)o, ne(v)er:',
    })
    const key = typed.trim().toLowerCase() || 'n'
    const answer = Object.entries(answers).find(([letter, word]) => key === letter || key === word)?.[1]
    if (answer) return answer
  }
}

/** Arguments as one line of JSON in which nothing is invisible, whole as far as a screen shows it. */
function shown(given: Readonly<Record<string, unknown>>): string {
  const text = escaped(JSON.stringify(given))
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}… (${text.length} characters in all)`
}

function escaped(text: string): string {
  return escapedJson(text)
}
