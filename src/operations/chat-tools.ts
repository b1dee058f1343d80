import { type App, isElsewhere, type ToolServers } from '../app/app.ts'
import {
  type Booking,
  type ChatCall,
  createToolbox,
  type Message,
  type RoutedReply,
  type RoutedStream,
  type RouteReport,
  type Toolbox,
  type ToolChat,
  type ToolServer,
} from '../chat/chat.ts'
import { toAppError } from '../errors.ts'
import { usdOf } from '../usage/usage.ts'

/** The calls of tools that have ended, where there are tools; of a stream those so far. */
type WithCalls = Partial<Pick<Awaited<ReturnType<typeof import('../chat/tools/rounds.ts')['completeRounds']>>, 'calls'>>

export type ToolStream = RoutedStream & WithCalls & { readonly answer?: () => Message | undefined }

/** Asks for a whole answer, with the tools of these servers as far as the operator allows them. */
export async function completeWithTools(
  app: App,
  call: ChatCall,
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<RoutedReply & WithCalls> {
  const { router } = await app.chat()
  if (!servers || servers.length === 0) return router.complete(call, signal)
  const { tools, left } = await serviceTools(app, call, servers)
  if (!tools) return warned(await router.complete(call, signal), left)
  const rounds = await import('../chat/tools/rounds.ts')
  try {
    const all = await rounds.completeRounds({ ...tools, router, call, signal })
    return warned({ ...all, booking: wholeBooking(all.bookings) }, left)
  } finally {
    await tools.toolbox.close()
  }
}

/** The same as a stream, whose end closes the tools; `showsSteps` shows calls, and asks where the operator wants it. */
export async function streamWithTools(
  app: App,
  call: ChatCall,
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
  showsSteps = false,
): Promise<ToolStream> {
  const { router } = await app.chat()
  if (!servers || servers.length === 0) return router.stream(call, signal)
  const { tools, left } = await serviceTools(app, call, servers, showsSteps)
  if (!tools) return warned(await router.stream(call, signal), left)
  const { toolbox } = tools
  const { streamRounds } = await import('../chat/tools/rounds.ts')
  try {
    const rounds = await streamRounds({ ...tools, router, call, signal, showsSteps })
    const chunks = closingAfter(rounds.chunks, () => toolbox.close())
    return warned({ ...rounds, chunks, booking: wholeBooking(rounds.bookings) }, left)
  } catch (thrown) {
    await toolbox.close()
    throw thrown
  }
}

function warned<T extends { readonly report: RouteReport }>(routed: T, left: readonly string[]): T {
  return { ...routed, report: { ...routed.report, warnings: [...routed.report.warnings, ...left] } }
}

async function* closingAfter<T>(items: AsyncIterable<T>, close: () => Promise<void>): AsyncGenerator<T> {
  try {
    for await (const item of items) yield item
  } finally {
    await close()
  }
}

/** One account for the rounds of a chat: the costs together, and the newest limits. */
function wholeBooking(bookings: readonly Booking[]): Booking {
  return {
    cost() {
      const costs = bookings.map((booking) => booking.cost()).filter((cost) => cost !== undefined)
      const last = costs.at(-1)
      if (!last || costs.some(({ cost_nano }) => cost_nano === null)) return last
      const sum = costs.reduce((total, { cost_nano }) => total + (cost_nano ?? 0), 0)
      return {
        ...last,
        cost_nano: sum,
        cost_usd: usdOf(sum),
        estimated: costs.some(({ estimated }) => estimated),
        tokens: {
          input: costs.reduce((total, { tokens }) => total + (tokens?.input ?? 0), 0),
          output: costs.reduce((total, { tokens }) => total + (tokens?.output ?? 0), 0),
        },
      }
    },
    limitHeaders: (names) => bookings.at(-1)?.limitHeaders(names),
  }
}

/** The tools that a chat may call here, and remarks about those that are left out. */
async function serviceTools(
  app: App,
  call: ChatCall,
  servers: readonly string[],
  asks = false,
): Promise<{ readonly tools?: Pick<ToolChat, 'toolbox' | 'tools'>; readonly left: readonly string[] }> {
  const { tools: own } = call.request
  if (own && own.length > 0)
    return { left: ["The tools of the persona's servers are left out, since the request brings its own"] }
  const { toolbox, warnings } = await openServiceTools(app, call, servers, asks)
  if (!toolbox) return { left: warnings }
  const { tools, warnings: more } = await toolbox.offer()
  const left = [...warnings, ...more]
  if (tools.length > 0) return { tools: { toolbox, tools }, left }
  await toolbox.close()
  return { left: more.length > 0 ? left : [...left, noneAllowed(servers.join(', '))] }
}

/**
 * Opens the tools of servers, as far as the operator of this machine has allowed them for chats without a terminal,
 * each as it was then: a changed one is left out. Those about which the user is asked are offered with `asks` alone.
 */
async function openServiceTools(
  app: App,
  { user, key, localOnly = false }: ChatCall,
  names: readonly string[],
  asks: boolean,
): Promise<{ readonly toolbox: Toolbox | undefined; readonly warnings: readonly string[] }> {
  const servers = await app.toolServers()
  const open: ToolServer[] = []
  const warnings: string[] = []
  const before = operatorsDecisions(servers, asks)
  for (const name of names) {
    try {
      if (localOnly && isElsewhere(servers.list, name))
        warnings.push(`The tools of ${name} are left out, since it is not on this machine`)
      else if (before.some(({ server }) => server === name)) open.push(await servers.share(name))
      else warnings.push(noneAllowed(name))
    } catch (thrown) {
      warnings.push(`The tools of ${name} are left out: ${toAppError(thrown).message}`)
    }
  }
  if (open.length === 0) return { toolbox: undefined, warnings }
  const toolbox = createToolbox({
    servers: open,
    isOffered: (...tool) => decisionOn(before, ...tool) !== undefined,
    approve({ id, server, tool, pin }, signal) {
      const made = decisionOn(operatorsDecisions(servers, asks), server, tool, pin)
      if (made?.decision === 'ask') return servers.questions.ask(id, { user, key }, signal)
      return made !== undefined || 'The tool is not allowed here, or has changed since it was allowed'
    },
  })
  return { toolbox, warnings }
}

type Decisions = ReturnType<ToolServers['list']['decisions']>

/** The tools that the operator allows, with `asks` also those about which the user is asked. */
function operatorsDecisions({ list }: ToolServers, asks: boolean): Decisions {
  return list
    .decisions()
    .filter(({ service, decision }) => service === true && (decision === 'always' || (asks && decision === 'ask')))
}

function decisionOn(made: Decisions, server: string, tool: string, pin: string): Decisions[number] | undefined {
  return made.find((each) => each.server === server && each.tool === tool && each.pin === pin)
}

function noneAllowed(server: string): string {
  return `The tools of ${server} are left out: none is allowed here as it is now (aichat mcp allow ${server} --service)`
}
