import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { boundedRecord, parseHandWritten, validate } from '../formats/formats.ts'
import { replaceFile, whileLocked } from '../storage/storage.ts'

/** Servers in the list. */
const mostServers = 100

/** The name of a server: the first part of its tools' names. */
const serverName = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,31}$/, 'must be 1 to 32 letters, digits, _ and -, and begin with a letter or digit')

const word = z.string().max(10_000)
const names = z.array(z.string().max(200)).max(100)

const shared = {
  /** The place of its secrets: the values of `env` and `headers`. */
  secrets: z.exactOptional(z.enum(['keychain', 'file'])),
  /** Seconds that a call may take. */
  timeout: z.exactOptional(z.int().min(1).max(3600)),
}

const configuredServer = z.union([
  z.strictObject({
    command: word.min(1),
    args: z.array(word).max(200).default([]),
    /** The names of the variables that it gets beside PATH, HOME and the like. */
    env: z.exactOptional(names),
    ...shared,
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).max(2_000),
    /** The names of the headers that go with each request. */
    headers: z.exactOptional(names),
    ...shared,
  }),
])
export type ConfiguredServer = z.output<typeof configuredServer>

/** A decision about a tool, by its pin: a user's, or the operator's for HTTP, where `ask` asks the chat's user. */
const decision = z.strictObject({
  server: serverName,
  tool: z.string().max(1_000),
  pin: z.string().max(100),
  decision: z.enum(['always', 'never', 'ask']),
  service: z.exactOptional(z.literal(true)),
})
export type Decision = z.output<typeof decision>

const document = z.strictObject({
  servers: boundedRecord(serverName, configuredServer, mostServers).default({}),
  decisions: z.array(decision).max(5_000).default([]),
})
type Document = z.output<typeof document>

/** The servers that are configured on this machine, and the decisions about their tools, in a file. */
export type ServerList = ReturnType<typeof openServerList>

/** Opens the list in a file; it is read at each use, since other processes write it. */
export function openServerList(path: string) {
  return {
    /** By name. Throws `configuration` for a file that does not parse. */
    servers: () => read().servers,
    get,
    /** Throws `invalid` for a name or a server that makes no sense. The decisions stay: each pin holds for one origin. */
    set(name: string, server: unknown): ConfiguredServer {
      const valid = validate(z.strictObject({ name: serverName, server: configuredServer }), { name, server })
      if (valid.problems) throw new AppError('invalid', 'Invalid server', { details: valid.problems })
      change(({ servers, decisions }) => {
        const all = { ...servers, [name]: valid.data.server }
        if (Object.keys(all).length > mostServers)
          throw new AppError('invalid', `There may be at most ${mostServers} servers: remove one first`)
        return { servers: all, decisions }
      })
      return valid.data.server
    },
    /** Removes a server and the decisions about its tools. Throws `not_found`. */
    remove(name: string) {
      get(name)
      change(({ servers, decisions }) => {
        const { [name]: _removed, ...rest } = servers
        return { servers: rest, decisions: decisions.filter(({ server }) => server !== name) }
      })
    },
    decisions: () => read().decisions,
    /** Puts a decision in the place of the earlier ones about the tool. */
    decide(made: Decision) {
      change(({ servers, decisions }) => {
        const others = decisions.filter(
          ({ server, tool, service }) => server !== made.server || tool !== made.tool || service !== made.service,
        )
        return { servers, decisions: [...others, made] }
      })
    },
    /** Forgets the decisions about these tools, or about all of a server; resolves with their number. */
    forget(name: string, tools: readonly string[]): number {
      get(name)
      const isKept = ({ server, tool }: Decision) => server !== name || (tools.length > 0 && !tools.includes(tool))
      if (read().decisions.every(isKept)) return 0
      let forgotten = 0
      change(({ servers, decisions }) => {
        const kept = decisions.filter(isKept)
        forgotten = decisions.length - kept.length
        return { servers, decisions: kept }
      })
      return forgotten
    },
  }

  /** Throws `not_found`. */
  function get(name: string): ConfiguredServer {
    const { servers } = read()
    const found = Object.hasOwn(servers, name) ? servers[name] : undefined
    if (found) return found
    throw new AppError('not_found', `MCP server "${name.slice(0, 100)}" not found`, {
      details: ['`aichat mcp list` shows the servers', 'To add one: aichat mcp add NAME -- COMMAND'],
    })
  }

  function read(): Document {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return { servers: {}, decisions: [] }
      throw reason
    }
    let value: unknown
    try {
      value = parseHandWritten(text)
    } catch (cause) {
      const { details } = cause as AppError
      throw new AppError('configuration', `Invalid JSON in ${path}: correct or remove the file`, { cause, details })
    }
    const valid = validate(document, value)
    if (valid.problems)
      throw new AppError('configuration', `Invalid servers in ${path}: correct or remove the file`, {
        details: valid.problems,
      })
    return valid.data
  }

  /** Throws `invalid` for what would not be read again, such as a decision about a tool with an endless name. */
  function change(alter: (before: Document) => Document): void {
    whileLocked(path, () => {
      const valid = validate(document, alter(read()))
      if (valid.problems) throw new AppError('invalid', 'Invalid entry', { details: valid.problems })
      replaceFile(path, `${JSON.stringify(valid.data, null, 2)}\n`)
    })
  }
}
