import { join } from 'node:path'
import { createToolQuestions, isLoopback, pinOf, type ToolQuestions, type ToolServer } from '../chat/chat.ts'
import { AppError, toAppError } from '../errors.ts'
import { parseJson } from '../formats/formats.ts'
import type { HttpClient } from '../http-client/http-client.ts'
import { chooseStorage, createKeychain, type Keychain } from '../keychain/keychain.ts'
import { type ConfiguredServer, openServerList, type ServerList } from '../mcp-client/mcp-client.ts'
import type { Settings } from '../settings/settings.ts'
import { openSecretFile } from '../storage/storage.ts'

/** The values of a server's variables and headers. */
interface ServerSecrets {
  readonly env?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** The MCP servers that this machine knows, with tools that chats may call. */
export interface ToolServers {
  readonly list: ServerList
  /** What users of this process are asked about calls. */
  readonly questions: ToolQuestions
  /** Connects to a server. Throws `not_found`, `unavailable` or `timeout`. */
  open(name: string, signal?: AbortSignal): Promise<ToolServer>
  /** The same for several chats at once: a connection stays open for some time after its last use. */
  share(name: string): Promise<ToolServer>
  /** Connects anew and lists the tools with the decisions about them. Throws as `open`. */
  inspect(name: string, signal?: AbortSignal): Promise<readonly InspectedTool[]>
  /** Whether this process is connected for chats, and the failure of its latest attempt to connect. */
  state(name: string): { readonly connected: boolean; readonly failure: ConnectFailure | undefined }
  /**
   * Puts a server into the list, in the place of an earlier one of its name, and the values of its variables and headers into
   * the keychain, else, if allowed, into a file with mode 600. Without `secrets` those of the earlier one stay, which the
   * server names. Throws `invalid`, and `unavailable` where no place can be used, with the server in the list already.
   */
  set(name: string, server: object, secrets: ServerSecrets | undefined, fileAllowed: boolean): Promise<ConfiguredServer>
  /** Removes a server with its secrets and the decisions about its tools. Throws `not_found`. */
  remove(name: string): Promise<void>
  close(): Promise<void>
}

/** A tool of a server: whether chats at a terminal and chats over HTTP may call it. */
interface InspectedTool {
  readonly tool: string
  readonly description: string
  readonly pin: string
  readonly decision: string
  readonly service: string
}

/** `at` is milliseconds since 1970. */
interface ConnectFailure {
  readonly at: number
  readonly message: string
}

/** Whether a server is reached at an address of another machine. Throws `not_found`. */
export function isElsewhere(list: Pick<ServerList, 'get'>, name: string): boolean {
  const server = list.get(name)
  return 'url' in server && !isLoopback(server.url)
}

/** Seconds that a call may take where its server sets no other limit. */
const usualTimeout = 60

/** The variables of our own environment that a server gets: where things are and how to write, never a key. */
const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot']

/** Opens the servers of the settings' folder; nothing is started or read before its use. */
export function openToolServers(
  { paths, environment, pluginAllowPrivate }: Pick<Settings, 'paths' | 'environment' | 'pluginAllowPrivate'>,
  {
    ownPorts,
    keychain = createKeychain(),
  }: { readonly ownPorts?: ReadonlySet<number>; readonly keychain?: Keychain } = {},
): ToolServers {
  const list = openServerList(join(paths.config, 'mcp.json'))
  const file = openSecretFile(join(paths.config, 'mcp-secrets.json'))
  const placeOf = (storage: 'keychain' | 'file') => (storage === 'keychain' ? keychain : file)
  let client: HttpClient | undefined
  const shared = new Map<string, Shared>()
  const failures = new Map<string, ConnectFailure>()
  const self: ToolServers = {
    list,
    questions: createToolQuestions(),
    share: (name) => share(shared, name, () => self.open(name)),
    async open(name, signal) {
      const server = list.get(name)
      try {
        const open = await connect(name, server, signal)
        failures.delete(name)
        return open
      } catch (thrown) {
        failures.set(name, { at: Date.now(), message: toAppError(thrown).message })
        throw thrown
      }
    },
    async inspect(name, signal) {
      const server = await self.open(name, signal)
      try {
        const made = list.decisions().filter((each) => each.server === name)
        return (await server.tools()).map((tool) => {
          const pin = pinOf(server, tool)
          const about = (isService: boolean, otherwise: string) => {
            const found = made.find((each) => each.tool === tool.name && each.service === (isService || undefined))
            if (!found) return otherwise
            return found.pin === pin || found.decision === 'never' ? found.decision : 'changed'
          }
          const { name: title, description = '' } = tool
          return { tool: title, description, pin, decision: about(false, 'ask'), service: about(true, 'no') }
        })
      } finally {
        await server.close()
      }
    },
    state: (name) => ({ connected: shared.has(name), failure: failures.get(name) }),
    async set(name, server, secrets, fileAllowed) {
      const all = list.servers()
      const before = Object.hasOwn(all, name) ? all[name]!.secrets : undefined
      // Values never go to another address: the server is without any while they are exchanged.
      const valid = list.set(name, server)
      forget(name)
      if (secrets && before) await placeOf(before).remove(accountOf(name))
      const names = Object.keys(secrets?.env ?? secrets?.headers ?? {})
      if (!secrets || names.length === 0) return valid
      const storage = await chooseStorage(keychain, fileAllowed)
      await placeOf(storage).set(accountOf(name), JSON.stringify(secrets))
      return list.set(name, { ...server, [secrets.env ? 'env' : 'headers']: names, secrets: storage })
    },
    async remove(name) {
      const { secrets } = list.get(name)
      if (secrets) await placeOf(secrets).remove(accountOf(name))
      list.remove(name)
      forget(name)
    },
    async close() {
      const open = [...shared.values()]
      shared.clear()
      await Promise.all(open.map(endShared))
      await client?.close()
    },
  }
  return self

  /** Ends the connection that chats share as soon as the last of them is done: the next one connects to the server as it is now. */
  function forget(name: string): void {
    const known = shared.get(name)
    shared.delete(name)
    failures.delete(name)
    if (known?.uses === 0) void endShared(known)
  }

  async function connect(name: string, server: ConfiguredServer, signal: AbortSignal | undefined): Promise<ToolServer> {
    const secrets = await secretsOf(name, server)
    // Loaded here, since commands that only list conversations load this file too.
    const [{ openHttpClient }, { connectServer }] = await Promise.all([
      import('../http-client/agent.ts'),
      import('../mcp-client/connection.ts'),
    ])
    client ??= openHttpClient({ allowPrivate: pluginAllowPrivate, ...(ownPorts && { ownPorts }) })
    return connectServer({
      name,
      address:
        'url' in server
          ? { url: server.url, headers: secrets.headers ?? {} }
          : { command: server.command, args: server.args, environment: { ...plainEnvironment(), ...secrets.env } },
      send: client.send,
      timeoutMs: (server.timeout ?? usualTimeout) * 1000,
      signal,
    })
  }

  async function secretsOf(name: string, { secrets }: ConfiguredServer): Promise<ServerSecrets> {
    if (secrets === undefined) return {}
    const text = await placeOf(secrets).get(accountOf(name))
    if (text !== undefined) return parseJson(text, 'the secret') as ServerSecrets
    throw new AppError('configuration', `The secrets of the MCP server ${name} are gone from the ${secrets}`, {
      details: [`Add it again: aichat mcp add ${name} --force …`],
    })
  }

  function plainEnvironment(): Record<string, string> {
    const found = inherited.map((name) => [name, environment[name]] as const)
    return Object.fromEntries(found.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
  }
}

/** How long a connection without a use stays open: milliseconds. */
const idleMs = 60_000

/** A connection that chats share. */
interface Shared {
  readonly server: Promise<ToolServer>
  uses: number
  timer: NodeJS.Timeout | undefined
}

/** A use of the open connection of a name, else of a new one; a connection that fails is not used again. */
async function share(all: Map<string, Shared>, name: string, open: () => Promise<ToolServer>): Promise<ToolServer> {
  const known: Shared = all.get(name) ?? { server: open(), uses: 0, timer: undefined }
  all.set(name, known)
  known.uses++
  clearTimeout(known.timer)
  const drop = () => {
    if (all.get(name) === known) all.delete(name)
  }
  const server = await known.server.catch((thrown: unknown) => {
    drop()
    throw thrown
  })
  let isClosed = false
  return {
    ...server,
    tools: (options) =>
      server.tools(options).catch((thrown: unknown) => {
        drop()
        throw thrown
      }),
    async close() {
      if (isClosed) return
      isClosed = true
      known.uses--
      if (known.uses > 0) return
      if (all.get(name) !== known) return server.close()
      known.timer = setTimeout(() => {
        drop()
        void server.close()
      }, idleMs).unref()
    },
  }
}

async function endShared({ server, timer }: Shared): Promise<void> {
  clearTimeout(timer)
  await server.then((open) => open.close()).catch(() => undefined)
}

function accountOf(name: string): string {
  return `mcp:${name}`
}
