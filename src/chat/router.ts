import { AppError, type FailureCode } from '../errors.ts'
import { isModelName, type PluginManifest } from '../plugins/manifest.ts'
import { type Answered, type Attempt, AttemptFailed, type Attempts, type Deadline } from './attempts.ts'
import type { Failure } from './failure.ts'
import type { ChatChunk, ChatReply, ChatRequest } from './messages.ts'
import type { Target } from './provider.ts'

/** A chat as a face hands it over: the request, and where it may go. */
export interface ChatCall {
  readonly request: Partial<ChatRequest> & Pick<ChatRequest, 'messages'>
  /** The plugin that must answer first, whatever is active. */
  readonly plugin?: string | undefined
  /** False stops at the first target that fails. */
  readonly fallback?: boolean | undefined
}

/** Who answered, and what was tried before. */
export interface RouteReport {
  readonly plugin: string | null
  /** The local runner that answered, or null when a plugin did. */
  readonly runner: string | null
  readonly model: string
  /** True when somebody else answered than was asked first. */
  readonly fallback: boolean
  readonly attempts: readonly Attempt[]
  readonly warnings: readonly string[]
}

export interface RoutedReply {
  readonly reply: ChatReply
  readonly report: RouteReport
}

export interface RoutedStream {
  /** The chunks; the iteration throws an AppError when the answer breaks off, and then nobody else is asked. */
  readonly chunks: AsyncIterable<ChatChunk>
  readonly report: RouteReport
}

export interface Router {
  /** Throws an AppError: `invalid` for a request that makes no sense, else the class of what went wrong. */
  complete(call: ChatCall, signal?: AbortSignal): Promise<RoutedReply>
  /** Resolves at the commit point: the first content is there and its source is settled. */
  stream(call: ChatCall, signal?: AbortSignal): Promise<RoutedStream>
  /** The first request that would go out; sends nothing. */
  preview(call: ChatCall): Promise<Preview>
}

export interface Preview {
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: unknown
  readonly warnings: readonly string[]
}

/** What the router needs of the plugin host and of the local runners. */
export interface RouterParts {
  readonly find: (id: string) => PluginManifest | undefined
  readonly active: () => PluginManifest | undefined
  readonly target: (manifest: PluginManifest, model: string) => Target
  /** The local runner's target for an asked model, or undefined when there is none; throws nothing. */
  readonly local: (model: string | undefined) => Promise<Target | undefined>
  /** What someone without any runner can do today, one line each. */
  readonly advice: () => readonly string[]
  readonly attempts: Attempts
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Told about each attempt, for status pages and logs. */
  readonly observe: (attempt: Attempt) => void
}

/** Requests sent for one chat at the most, over all targets. */
const mostTries = 6

type Plan = () => Target | undefined | Promise<Target | undefined>

export function createRouter(parts: RouterParts): Router {
  return {
    async complete(call, signal) {
      const { value, report } = await route(call, signal, parts.attempts.ask)
      return { reply: value, report }
    },
    async stream(call, signal) {
      const { value, report } = await route(call, signal, parts.attempts.stream)
      return { chunks: guarded(value, report, signal), report }
    },
    async preview(call) {
      const { targets, warnings } = plan(call)
      const target = await targets[0]!()
      if (!target) throw noRunner(parts.advice())
      const request = { ...call.request, model: target.model }
      return {
        plugin: target.plugin,
        runner: target.runner,
        model: target.model,
        ...target.preview(request, request.stream === true),
        warnings: [...warnings, ...target.leftOut(request)],
      }
    },
  }

  /** Asks one target after the other until one answers; the first failure that is told is the first target's. */
  async function route<T>(
    call: ChatCall,
    signal: AbortSignal | undefined,
    ask: (target: Target, request: ChatRequest, deadline: Deadline, signal?: AbortSignal) => Promise<Answered<T>>,
  ): Promise<{ value: T; report: RouteReport }> {
    const { targets, warnings } = plan(call)
    const failures: AttemptFailed[] = []
    let deadline: Deadline | undefined
    for (const next of call.fallback === false ? targets.slice(0, 1) : targets) {
      if (signal?.aborted || (deadline && (deadline.triesLeft <= 0 || parts.now() >= deadline.endsAt))) break
      const planned = next()
      const target = planned instanceof Promise ? await planned : planned
      if (!target) continue
      deadline ??= { endsAt: parts.now() + target.timeouts.total, triesLeft: mostTries }
      try {
        const request = { ...call.request, model: target.model }
        const { value, attempt } = await ask(target, request, deadline, signal)
        parts.observe(attempt)
        const attempts = [...failures.map((failed) => failed.attempt), attempt]
        const { plugin, runner, model } = target
        const told = [...warnings, ...target.leftOut(request)]
        return { value, report: { plugin, runner, model, fallback: failures.length > 0, attempts, warnings: told } }
      } catch (reason) {
        if (!(reason instanceof AttemptFailed)) throw reason
        parts.observe(reason.attempt)
        failures.push(reason)
      }
    }
    throw nobodyAnswered(failures, call.fallback === false, parts.advice())
  }

  /** The targets in order, none of them asked yet. Throws `invalid` or `not_found` for what our own rules refuse. */
  function plan(call: ChatCall): { targets: readonly Plan[]; warnings: readonly string[] } {
    const { plugin, model } = addressed(call)
    const warnings: string[] = []
    const first = plugin === undefined ? parts.active() : parts.find(plugin)
    if (plugin !== undefined && !first) throw new AppError('not_found', `There is no plugin "${plugin}"`)
    if (model !== undefined && !isModelName(model))
      throw new AppError('invalid', 'Invalid chat request', { details: ['model: is no model name'] })
    const targets: Plan[] = []
    if (first) {
      refuseOtherKinds(first)
      const chosen = modelOf(first, model)
      if (!first.model_map.includes(chosen))
        warnings.push(`${chosen} is not in the list of ${first.id}; it is asked for all the same, since lists age`)
      if (first.status?.state === 'retired')
        warnings.push(`${first.name} is retired${first.status.since ? ` since ${first.status.since}` : ''}`)
      targets.push(() => parts.target(first, chosen))
      for (const entry of first.fallback ?? []) targets.push(() => fallbackTarget(entry))
    }
    targets.push(() => parts.local(model))
    return { targets, warnings }
  }

  function fallbackTarget(entry: NonNullable<PluginManifest['fallback']>[number]): Target | undefined {
    const [id, ...rest] =
      typeof entry === 'string' ? entry.split(':') : [entry.plugin, ...(entry.model ? [entry.model] : [])]
    const manifest = parts.find(id!)
    return manifest && parts.target(manifest, modelOf(manifest, rest.join(':') || undefined))
  }

  /** A model may be written `plugin:model` when the part before the first colon is an installed plugin's id. */
  function addressed(call: ChatCall): { plugin: string | undefined; model: string | undefined } {
    const asked = call.request.model || undefined
    const colon = asked?.indexOf(':') ?? -1
    if (call.plugin !== undefined || !asked || colon <= 0) return { plugin: call.plugin, model: asked }
    const prefix = asked.slice(0, colon)
    return parts.find(prefix)
      ? { plugin: prefix, model: asked.slice(colon + 1) || undefined }
      : { plugin: undefined, model: asked }
  }

  /**
   * After the commit point: whatever breaks off now ends the stream with an error that says who and why. An iterator by
   * hand, as in attempts.ts.
   */
  function guarded(
    chunks: AsyncIterable<ChatChunk>,
    report: RouteReport,
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ChatChunk> {
    const iterator = chunks[Symbol.asyncIterator]()
    const explain = (reason: unknown): never => {
      if (signal?.aborted) throw new AppError('unavailable', 'The caller went away', { cause: reason })
      const by = report.plugin ?? report.runner ?? 'the provider'
      const words = reason instanceof Error ? reason.message : String(reason)
      throw new AppError('protocol', `The answer of ${by} broke off: what came is not the whole answer`, {
        details: [words.slice(0, 500)],
        cause: reason,
      })
    }
    return {
      next: () => iterator.next().catch(explain),
      return: async () => {
        await iterator.return?.()
        return { done: true as const, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
}

/** The asked model, else the plugin's default, else the first of its list. */
function modelOf(manifest: PluginManifest, asked: string | undefined): string {
  return asked ?? manifest.default_model ?? manifest.model_map[0]!
}

function refuseOtherKinds(manifest: PluginManifest): void {
  if (manifest.type === 'chat' || manifest.type === 'completion') return
  throw new AppError('invalid', `The plugin ${manifest.id} is of type ${manifest.type} and does not chat`)
}

function noRunner(advice: readonly string[]): AppError {
  return new AppError('unavailable', 'No plugin is active and no local model runner answers', { details: advice })
}

/** Which class of error a caller gets when only one target was to be asked. */
const codes: Record<Failure['class'], FailureCode> = {
  auth: 'forbidden',
  quota: 'rate_limited',
  model_gone: 'not_found',
  retired: 'unavailable',
  request: 'invalid',
  context_length: 'invalid',
  policy: 'invalid',
  model_output: 'unavailable',
  rate: 'rate_limited',
  down: 'unavailable',
  protocol: 'protocol',
  cancelled: 'unavailable',
}

/**
 * The error when nobody answered: the provider's reason first, then every other try, then what to do next.
 * A single target's failure keeps its own class; after a fallback it is `unavailable`.
 */
function nobodyAnswered(failures: readonly AttemptFailed[], single: boolean, advice: readonly string[]): AppError {
  const [first] = failures
  if (!first) return noRunner(advice)
  const cause = first.setup ?? first
  if (single && first.setup) return first.setup
  const code = single && first.failure ? codeOf(first.failure) : 'unavailable'
  const waitMs = failures.flatMap(({ failure }) => failure?.waitMs ?? []).sort((a, b) => a - b)[0]
  return new AppError(code, `${nameOf(first.attempt)} failed: ${first.attempt.error ?? 'no reason given'}`, {
    details: [...failures.map(describe), ...(first.setup?.details ?? []), ...(single ? [] : advice)],
    ...(waitMs !== undefined && { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) }),
    cause,
  })
}

function codeOf(failure: Failure): FailureCode {
  const late = failure.class === 'down' && /TIMEOUT/.test(failure.code ?? '')
  return late ? 'timeout' : codes[failure.class]
}

function nameOf(attempt: Attempt): string {
  return attempt.plugin ?? `the local runner ${attempt.runner}`
}

/** `openai gpt-4o: rate (429), 2 tries: slow down` */
function describe({ attempt }: AttemptFailed): string {
  const status = attempt.status === undefined ? '' : ` (${attempt.status})`
  const tries = attempt.tries === 1 ? '1 try' : `${attempt.tries} tries`
  return `${nameOf(attempt)} ${attempt.model}: ${attempt.class}${status}, ${tries}: ${attempt.error}`
}
