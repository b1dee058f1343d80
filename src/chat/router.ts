import { type KeyPlace, modelNotAllowed, type Permits } from '../accounts/accounts.ts'
import { AppError } from '../errors.ts'
import { counted } from '../formats/formats.ts'
import { isModelName, type PluginManifest, pluginNotFound } from '../plugins/plugins.ts'
import { type Answered, type Attempt, AttemptFailed, type Attempts, type Deadline } from './attempts.ts'
import type { ChatCounts, ChatOutcome } from './chat-counts.ts'
import { type Counting, excessiveTokens, fitRequest } from './fit-context.ts'
import { FollowedAttempt } from './followed-attempt.ts'
import { placesAsked } from './further-models.ts'
import { notHere, nothingHere, refuseAddresses } from './local-only.ts'
import {
  type BookedCost,
  type Ending,
  type MeteredAttempt,
  type MeteredCall,
  type MeteredPlace,
  type Metering,
  PlaceRefused,
  type Purpose,
} from './metering.ts'
import { personaIn, type UnknownPlugin, unknownPlugin } from './model-address.ts'
import { noAnswerError, noRunnerError } from './no-answer.ts'
import type { ChatChunk, ChatReply, ChatRequest } from './protocol/messages.ts'
import { refusedLength } from './protocol/refused-length.ts'
import { AnswerTokens, estimateRequestTokens } from './protocol/token-estimate.ts'
import type { Target } from './provider.ts'
import { wrongField } from './responses/refusals.ts'
import type { Booking, RouteReport } from './route-report.ts'
import { GuardedChunks, StreamAccount } from './routed-stream.ts'
import type { RequestWatch } from './watch.ts'

/** A chat as a face hands it over: the request, and where it may go. */
export interface ChatCall {
  readonly request: Partial<ChatRequest> & Pick<ChatRequest, 'messages'>
  /** The plugin to ask first, instead of the active one. */
  readonly plugin?: string | undefined
  /** False stops at the first target that fails. */
  readonly fallback?: boolean | undefined
  /** The id of the asking user: heavy work is shared out between users. */
  readonly user?: string | undefined
  /** The id of the API key that the request came with. */
  readonly key?: string | undefined
  /** The saved conversation that the request continues with: it keeps its key at a provider with several. */
  readonly session?: string | undefined
  /** The use behind the request; default `chat`. */
  readonly purpose?: Purpose | undefined
  /** Whether the caller's API key permits a place; without it all are permitted. No other place is ever asked. */
  readonly permits?: Permits | undefined
  /** Asks places on this machine only; see `RouterParts.localOnly`. */
  readonly localOnly?: boolean | undefined
  /** Follows the request, for its log line. */
  readonly watch?: RequestWatch | undefined
}

export interface RoutedReply {
  readonly reply: ChatReply
  readonly report: RouteReport
  readonly booking: Booking
}

export interface RoutedStream {
  /** The chunks; the iteration throws an AppError when the answer breaks off; no other target is asked then. */
  readonly chunks: AsyncIterable<ChatChunk>
  readonly report: RouteReport
  readonly booking: Booking
}

export type Router = ReturnType<typeof createRouter>

export interface Preview {
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: unknown
  readonly warnings: readonly string[]
}

/** The plugin host and the local runners, as the router uses them. */
export interface RouterParts {
  readonly find: (id: string) => PluginManifest | undefined
  /** The installed plugins that chat. */
  readonly plugins: () => readonly PluginManifest[]
  readonly active: () => PluginManifest | undefined
  readonly target: (manifest: PluginManifest, model: string) => Target
  /**
   * The local runner's target for an asked model, or undefined when there is none. With `localOnly` a runner on another machine
   * is not asked, and an asked model that the runner forwards to one throws `unavailable`.
   */
  readonly local: (model: string | undefined, localOnly: boolean) => Promise<Target | undefined>
  /** The reason why a place is not on this machine, or undefined where it is; asks no other machine. */
  readonly elsewhere: (target: Target) => Promise<string | undefined>
  /** The operator's rule that no chat may leave this machine. */
  readonly localOnly?: boolean
  /** Advice after a failure, one line each, by the names of the failed plugins and runners. */
  readonly advice: (failed: ReadonlySet<string>, localOnly?: boolean) => readonly string[]
  readonly attempts: Attempts
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Counts requests for limits and the ledger; undefined counts nothing. */
  readonly metering?: Metering | undefined
  readonly counts?: ChatCounts | undefined
  /** Keeps the window that a refusal showed, for later requests of the day. */
  readonly learn: (target: Target, tokens: number) => void
  /** Called with each attempt, for status pages and logs. */
  readonly observe: (attempt: Attempt) => void
}

/** The answer of a target, with all that follows it to its end. */
interface Routed<T> {
  readonly value: T
  readonly report: RouteReport
  readonly entry: MeteredAttempt | undefined
  readonly followed: FollowedAttempt
}

/** Requests sent for one chat at the most, over all targets. */
const mostTries = 6

type Plan = () => Target | undefined | Promise<Target | undefined>

/** Routes chats over the plugins and the local runner; reports each attempt, and meters it if asked to. */
export function createRouter(parts: RouterParts) {
  return {
    /** Throws an AppError: `invalid` for a request that makes no sense, else the class of the failure. */
    async complete(call: ChatCall, signal?: AbortSignal): Promise<RoutedReply> {
      const metered = begin(call)
      try {
        const { value, report, entry, followed } = await route(call, signal, parts.attempts.ask, metered)
        const { cost, noted } = book(call, value, { report, entry, followed })
        if (noted) await noted
        return { reply: value, report, booking: { cost: () => cost, limitHeaders: (names) => metered?.headers(names) } }
      } catch (reason) {
        call.watch?.ended?.(signal?.aborted ? 'cancelled' : 'failed', { reason })
        throw reason
      } finally {
        metered?.end()
      }
    },
    /** Resolves at the commit point: the first content is there and its source is settled. */
    async stream(call: ChatCall, signal?: AbortSignal): Promise<RoutedStream> {
      const metered = begin(call)
      try {
        const { value, report, entry, followed } = await route(call, signal, parts.attempts.stream, metered)
        followed.begun()
        const account = new StreamAccount(entry, metered, followed, (outcome) => count(call, report, outcome))
        const chunks = new GuardedChunks(value, { report, account, signal, classify: parts.attempts.classify })
        return { chunks, report, booking: account }
      } catch (reason) {
        metered?.end()
        call.watch?.ended?.(signal?.aborted ? 'cancelled' : 'failed', { reason })
        throw reason
      }
    },
    /** The first request that would go out; sends nothing. */
    async preview(call: ChatCall): Promise<Preview> {
      const unknown = unknownIn(call)
      const remarks = unknown ? await remarksOn(call, unknown) : []
      const { targets, warnings } = plan(call, remarks)
      const away: string[] = []
      const target = await firstPermitted(
        call,
        here(call, call.fallback === false ? targets.slice(0, 1) : targets, away),
      )
      if (!target && addressed(call).isLocal) throw noLocalModel(call)
      if (!target && isLocalOnly(call)) throw nothingHere(away, parts.advice(new Set(), true))
      if (!target) throw noRunnerError([...remarks, ...parts.advice(new Set())])
      const { request, left = [] } = requestFor(call, target, undefined)
      return {
        plugin: target.plugin,
        runner: target.runner,
        model: target.model,
        ...target.preview(request, request.stream === true),
        warnings: [...warnings, ...left, ...target.leftOut(request)],
      }
    },
  }

  function begin({ user = 'local', key, purpose = 'chat', request }: ChatCall): MeteredCall | undefined {
    return parts.metering?.begin({ user, key }, purpose, () => request)
  }

  /** Books a whole answer, which is sent once `noted` resolves. Throws where a hard budget is spent by it. */
  function book(
    call: ChatCall,
    reply: ChatReply,
    { report, entry, followed }: Pick<Routed<ChatReply>, 'report' | 'entry' | 'followed'>,
  ): { readonly cost?: BookedCost; readonly noted?: Promise<void> } {
    let outcome: ChatOutcome = 'broken'
    let booked: ReturnType<MeteredAttempt['answered']> | undefined
    try {
      entry?.reported(reply)
      const answered = new AnswerTokens()
      for (const { message } of reply.choices) answered.add(message, reply.model)
      followed.delivered(answered.sum, reply.usage)
      entry?.delivered(answered.sum)
      booked = entry?.answered()
      outcome = 'answered'
      return booked ?? {}
    } finally {
      followed.ended(outcome, booked?.cost)
      count(call, report, outcome)
    }
  }

  /** Counts a chat; a persona's own calls and tests of plugins are none. */
  function count({ purpose = 'chat' }: ChatCall, place: MeteredPlace, outcome: ChatOutcome): void {
    if (purpose === 'chat') parts.counts?.ended(place, outcome)
  }

  /** Asks one target after the other until one answers; the first failure that is reported is the first target's. */
  async function route<T>(
    call: ChatCall,
    signal: AbortSignal | undefined,
    ask: (target: Target, request: ChatRequest, deadline: Deadline, signal?: AbortSignal) => Promise<Answered<T>>,
    metered: MeteredCall | undefined,
  ): Promise<Routed<T>> {
    const unknown = unknownIn(call)
    const remarks = unknown ? await remarksOn(call, unknown) : []
    const { targets, warnings } = plan(call, remarks)
    const failures: AttemptFailed[] = []
    const skipped: Attempt[] = []
    const away: string[] = []
    const localOnly = isLocalOnly(call)
    let deadline: Deadline | undefined
    let first: Target | undefined
    for (const next of here(call, call.fallback === false ? targets.slice(0, 1) : targets, away)) {
      if (signal?.aborted || (deadline && (deadline.triesLeft <= 0 || parts.now() >= deadline.endsAt))) break
      const planned = next()
      const target = planned instanceof Promise ? await planned : planned
      if (!target) continue
      first ??= target
      const { permits } = call
      const refused = permits && placesAsked(target, call.request).find((place) => !permits(place))
      if (refused) {
        skipped.push(notPermitted(target, refused))
        continue
      }
      deadline ??= {
        endsAt: parts.now() + target.timeouts.total,
        triesLeft: mostTries,
        user: call.user,
        asker: call.session ?? call.user,
        follows: call.watch,
      }
      let shorter: Shorter | undefined
      do {
        let entry: MeteredAttempt | undefined
        const { request, left } = requestFor(call, target, shorter)
        try {
          const reserved = metered?.attempt(target, left && request)
          entry = reserved instanceof Promise ? await reserved : reserved
          const followed = new FollowedAttempt({ counts: parts.counts, now: parts.now, watch: call.watch }, target)
          const { value, attempt } = await ask(target, request, deadline, signal)
          observe(call, attempt)
          if (first !== target && call.purpose !== 'plugin_test') parts.counts?.fellBack(first, target)
          const { plugin, runner, model } = target
          const report: RouteReport = {
            plugin,
            runner,
            model,
            fallback: first !== target,
            attempts: [...skipped, ...failures.map((failed) => failed.attempt), attempt],
            warnings: [...warnings, ...(left ?? []), ...target.leftOut(request)],
            ...(localOnly && { local_only: true }),
          }
          return { value, report, entry, followed }
        } catch (reason) {
          const failure = reason instanceof PlaceRefused ? limited(target, reason) : reason
          entry?.ended(endingOf(failure, signal), failure instanceof AttemptFailed ? reasonOf(failure) : undefined)
          if (!(failure instanceof AttemptFailed)) throw failure
          observe(call, failure.attempt)
          failures.push(failure)
          // A conversation that the model refuses for its length is tried once more with less.
          shorter = shorter === undefined ? shorterThan(request, target, failure) : undefined
          if (shorter) parts.learn(target, learnedWindow(request, target, failure))
        }
      } while (shorter && deadline.triesLeft > 0 && !signal?.aborted)
    }
    if (failures.length === 0 && skipped.length > 0) throw modelNotAllowed(skipped)
    if (!first && addressed(call).isLocal) throw noLocalModel(call)
    if (failures.length === 0 && localOnly) throw nothingHere(away, parts.advice(new Set(), true))
    count(call, first ?? nowhere, signal?.aborted ? 'cancelled' : 'failed')
    throw noAnswerError(failures, call.fallback === false, (failed) => parts.advice(failed, localOnly), remarks)
  }

  function isLocalOnly({ localOnly }: ChatCall): boolean {
    return localOnly === true || parts.localOnly === true
  }

  /**
   * The targets on this machine, for a chat that must stay there, and all for another. The reasons against those left out are
   * noted; a plugin that the caller named throws `unavailable`.
   */
  function here(call: ChatCall, targets: readonly Plan[], away: string[]): readonly Plan[] {
    if (!isLocalOnly(call)) return targets
    refuseAddresses(call.request)
    const named = addressed(call).plugin
    return targets.map((next) => async () => {
      const target = await next()
      const reason = target && (await parts.elsewhere(target))
      if (target === undefined || reason === undefined) return target
      const name = target.plugin ?? target.runner ?? target.model
      if (named !== undefined && next === targets[0]) throw notHere(name, reason)
      away.push(`${name} was not tried: ${reason}`)
      return undefined
    })
  }

  function observe({ watch }: ChatCall, attempt: Attempt): void {
    parts.observe(attempt)
    watch?.attempted(attempt)
  }

  /** The first target, or with a key the first that it permits. Throws `model_not_allowed` where it permits none. */
  async function firstPermitted({ permits }: ChatCall, targets: readonly Plan[]): Promise<Target | undefined> {
    if (!permits) return targets[0]!()
    const refused: KeyPlace[] = []
    for (const next of targets) {
      const target = await next()
      if (target && permits(target)) return target
      if (target) refused.push(target)
    }
    if (refused.length > 0) throw modelNotAllowed(refused)
    return undefined
  }

  /** The targets in order, none of them asked yet. Throws `invalid` or `not_found` for requests that our own rules refuse. */
  function plan(call: ChatCall, remarks: readonly string[]): { targets: readonly Plan[]; warnings: readonly string[] } {
    const { plugin, model, isLocal } = addressed(call)
    const localOnly = isLocalOnly(call)
    if (isLocal) return { targets: [() => localTarget(model, localOnly)], warnings: remarks }
    if (personaIn(model) !== undefined)
      throw new AppError('invalid', 'Invalid chat request', { details: ['model: a persona cannot answer here'] })
    const warnings: string[] = [...remarks]
    const first = plugin === undefined ? parts.active() : parts.find(plugin)
    if (plugin !== undefined && !first) throw pluginNotFound(plugin, idsOf(parts.plugins()))
    if (model !== undefined && !isModelName(model))
      throw new AppError('invalid', 'Invalid chat request', { details: ['model: invalid model name'] })
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
    targets.push(() => parts.local(model, localOnly))
    return { targets, warnings }
  }

  /** What is known of a model that may begin with a misspelt plugin; one of the active plugin does not. */
  function unknownIn(call: ChatCall): UnknownPlugin | undefined {
    const { plugin, model, isLocal } = addressed(call)
    if (isLocal || plugin !== undefined || model === undefined) return undefined
    return parts.active()?.model_map.includes(model) ? undefined : unknownPlugin(model, parts.plugins())
  }

  /** The remark on such a model; throws `not_found` where it certainly is one, but not for a model of the local runner. */
  async function remarksOn(call: ChatCall, unknown: UnknownPlugin): Promise<readonly string[]> {
    const { model } = call.request
    if ((await parts.local(model, isLocalOnly(call)))?.model === model) return []
    if (unknown.isCertain) throw unknown.error
    return [unknown.remark]
  }

  function fallbackTarget(entry: NonNullable<PluginManifest['fallback']>[number]): Target | undefined {
    const [id, ...rest] =
      typeof entry === 'string' ? entry.split(':') : [entry.plugin, ...(entry.model ? [entry.model] : [])]
    const manifest = parts.find(id!)
    return manifest && parts.target(manifest, modelOf(manifest, rest.join(':') || undefined))
  }

  /** The local runner with that very model: nothing else is asked in its place. */
  async function localTarget(model: string | undefined, localOnly: boolean): Promise<Target | undefined> {
    const target = await parts.local(model, localOnly)
    if (!target || model === undefined || [model, `${model}:latest`].includes(target.model)) return target
    throw new AppError('not_found', `Local model "${model.slice(0, 100)}" not found`, {
      details: [`The local runner would answer with ${target.model}: ask for local:${target.model}`],
    })
  }

  /** The failure of a chat that asks for a model of this machine, where none can answer. */
  function noLocalModel({ request }: ChatCall): AppError {
    return new AppError('unavailable', `No local model runner answers, so ${request.model?.slice(0, 100)} cannot`, {
      details: parts.advice(new Set(), true),
      final: true,
    })
  }

  /** `plugin:model` where the part before the first colon is an installed plugin; `local:model` for the runner. */
  function addressed(call: ChatCall): {
    readonly plugin: string | undefined
    readonly model: string | undefined
    readonly isLocal?: true
  } {
    const asked = call.request.model || undefined
    const colon = asked?.indexOf(':') ?? -1
    if (call.plugin !== undefined || !asked || colon <= 0) return { plugin: call.plugin, model: asked }
    const prefix = asked.slice(0, colon)
    const rest = asked.slice(colon + 1) || undefined
    if (parts.find(prefix)) return { plugin: prefix, model: rest }
    return prefix === 'local' ? { plugin: undefined, model: rest, isLocal: true } : { plugin: undefined, model: asked }
  }
}

/** A window that a refusal showed, and how much more the provider counted than we do. */
interface Shorter {
  readonly window: number
  readonly counting: Counting
}

/**
 * How to fit a request that was refused for its length: into the window that the refusal names, else into the known one by
 * a careful count, else into half of what was sent. Undefined where the failure is another one, or nothing can be left out.
 */
function shorterThan(request: ChatRequest, target: Target, { failure }: AttemptFailed): Shorter | undefined {
  if (failure?.class !== 'context_length' || mustBeWhole(request)) return undefined
  const estimate = estimateRequestTokens(request)
  const { limit, counted: theirs = limit === undefined ? undefined : estimate } = refusedLength(failure.message)
  const options: Shorter[] = [
    // A little less than fits: what is left out is counted as exactly as the rest.
    ...(limit === undefined ? [] : [{ window: limit, counting: (theirs! / estimate) * 1.02 }]),
    ...(target.contextTokens === undefined ? [] : [{ window: target.contextTokens, counting: 'certain' as const }]),
    { window: Math.ceil(estimate / 2), counting: 1 },
  ]
  return options.find(({ window, counting }) => fitRequest(request, window, counting).left)
}

/** Of a refused length, a window that a provider did not name is taken to be so much: the next refusal makes it smaller. */
const refusedShare = 0.75

/** The window that a refusal for length shows: the one that it names, else a bit less than what was sent. */
function learnedWindow(request: ChatRequest, { contextTokens }: Target, { message }: AttemptFailed): number {
  const named = refusedLength(message).limit
  if (named !== undefined) return named
  return Math.min(Math.ceil(estimateRequestTokens(request) * refusedShare), contextTokens ?? Number.POSITIVE_INFINITY)
}

/** The refusal of a request of the Responses API that is not to be truncated, with OpenAI's names. */
function exceedsWindow(takes: string): AppError {
  const words = 'Your input exceeds the context window of this model. Please adjust your input and try again.'
  return wrongField('input', words, [`${takes}: shorten it, or set truncation to auto`], 'context_length_exceeded')
}

/** Whether the client forbids that anything is left out: `truncation: disabled` of the Responses API. */
function mustBeWhole(request: ChatRequest): boolean {
  return request.extra_content?.['responses']?.['truncation'] === 'disabled'
}

/**
 * The request as a target is sent it, and what was left out of it, in words. It is sent whole where the window is unknown,
 * and where it may fit at a provider, which refuses what is too long. A runner on this machine cuts it without a word, so
 * that it is fitted for certain. The request itself where all fits and it names that model, as most do.
 */
function requestFor(
  { request: asked }: ChatCall,
  { plugin, model, contextTokens }: Target,
  shorter: Shorter | undefined,
): { readonly request: ChatRequest; readonly left?: readonly string[] } {
  const request = asked.model === model ? (asked as ChatRequest) : { ...asked, model }
  const window = shorter?.window ?? contextTokens
  if (window === undefined) return { request }
  const { messages, left } = fitRequest(request, window, shorter?.counting ?? (plugin === null ? 'certain' : 'likely'))
  const takes = `${model} takes ${window} tokens at once`
  if (left && mustBeWhole(request)) throw exceedsWindow(takes)
  const remarks: string[] = []
  if (left)
    remarks.push(`${counted(left.messages, 'earlier message')} (about ${left.tokens} tokens) left out: ${takes}`)
  const tokens = plugin === null ? excessiveTokens(messages, window) : undefined
  if (tokens !== undefined)
    remarks.push(`${takes}: of the request, about ${tokens}, its runner may leave out the beginning`)
  if (remarks.length === 0) return { request }
  return { request: left ? { ...request, messages: [...messages] } : request, left: remarks }
}

/** The place of chats for which no plugin is active and no local runner is there. */
const nowhere: MeteredPlace = { plugin: null, model: 'other' }

function limited({ plugin, runner, model }: Target, { reason }: PlaceRefused): AttemptFailed {
  const attempt: Attempt = {
    plugin,
    runner,
    model,
    tries: 0,
    outcome: 'failed',
    class: 'limit',
    error: reason.message,
    duration_ms: 0,
  }
  return new AttemptFailed(attempt, undefined, { setup: reason })
}

/** The class of a failure, and the status where there was one. */
function reasonOf({ attempt }: AttemptFailed): string {
  return [attempt.class, attempt.status].filter((part) => part !== undefined).join(' ')
}

/** The ending of an attempt without content. A caller that left may have been answered all the same. */
function endingOf(failure: unknown, signal: AbortSignal | undefined): Ending {
  if (!(failure instanceof AttemptFailed) || failure.attempt.tries === 0) return 'unsent'
  return signal?.aborted ? 'cancelled' : 'failed'
}

function idsOf(plugins: readonly PluginManifest[]): readonly string[] {
  return plugins.map(({ id }) => id)
}

/** The asked model, else the plugin's default, else the first of its list. */
function modelOf(manifest: PluginManifest, asked: string | undefined): string {
  return asked ?? manifest.default_model ?? manifest.model_map[0]!
}

/** The part of a target that the caller's key does not permit, itself or a further model that the request names there. */
function notPermitted({ plugin, runner }: Target, { model }: KeyPlace): Attempt {
  const error = 'the API key does not allow it'
  return { plugin, runner, model, tries: 0, outcome: 'failed', class: 'not_permitted', error, duration_ms: 0 }
}

function refuseOtherKinds(manifest: PluginManifest): void {
  if (manifest.type === 'chat' || manifest.type === 'completion') return
  throw new AppError('invalid', `The plugin ${manifest.id} is of type ${manifest.type} and does not chat`)
}
