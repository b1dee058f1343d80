import { AppError, type FailureCode, type ProviderError } from '../errors.ts'
import { looksLikeKey } from '../plugins/plugins.ts'
import type { Attempt, AttemptFailed } from './attempts.ts'
import type { Failure, FailureClass } from './protocol/failure.ts'

/** Advice on the next step, one line each, once these plugins and runners have failed. */
type Advice = (failed: ReadonlySet<string>) => readonly string[]

/**
 * The error when no target answered: the provider's reason first, then every other try, then the next step. Where the
 * first target refused the request itself or asked to wait, its class is the caller's, with the provider's own names;
 * with a fallback behind it anything else is `unavailable`. A `single` target keeps its class in any case. `remarks` are on the
 * request, one line each.
 */
export function noAnswerError(
  failures: readonly AttemptFailed[],
  single: boolean,
  advice: Advice,
  remarks: readonly string[] = [],
): AppError {
  const [first] = failures
  if (!first) return noRunnerError([...remarks, ...advice(new Set())])
  const { attempt, failure, setup } = first
  if (setup && (single || attempt.class === 'limit' || (setup.code === 'invalid' && failures.length === 1)))
    return setup
  const code = codeOf(first, single)
  const isRefusal = passedOn(failure) !== undefined || setup?.code === 'invalid'
  const next = single || isRefusal ? [] : advice(new Set(failures.map(({ attempt }) => nameIn(attempt))))
  const waitMs = code === 'rate_limited' ? failure?.waitMs : earliestOf(failures)
  const provider = failure && isRefusal ? namesOf(failure) : undefined
  const verb = failure?.class === 'auth' ? 'refused the key' : 'failed'
  return new AppError(code, `${nameOf(attempt)} ${verb}: ${attempt.error ?? 'no reason given'}`, {
    details: [
      ...failures.map(describe),
      ...failures.flatMap(({ advice }) => advice ?? []),
      ...(setup?.details ?? []),
      ...remarks,
      ...next,
    ],
    ...(waitMs !== undefined && { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) }),
    ...(provider && { provider }),
    ...(failures.every(isFinal) ? { final: true } : code === 'configuration' && { final: false }),
    cause: setup ?? first,
  })
}

/** The error when there is no target to ask. */
export function noRunnerError(advice: readonly string[]): AppError {
  return new AppError('unavailable', 'No model is set up: no provider is active, and no model runs on this machine', {
    details: advice,
  })
}

/** The classes as users read them. */
const classNames: Readonly<Record<NonNullable<Attempt['class']>, string>> = {
  auth: 'key refused',
  quota: 'no credit left',
  model_gone: 'model not found',
  retired: 'service retired',
  request: 'request refused',
  context_length: 'conversation too long',
  policy: 'refused by a content policy',
  model_output: 'invalid answer of the model',
  rate: 'too many requests',
  down: 'no answer',
  protocol: 'unreadable answer',
  cancelled: 'cancelled',
  configuration: 'not set up',
  limit: 'limit reached',
  not_permitted: 'not allowed',
}

/** Which class of error a caller gets when only one target was to be asked. */
const codes: Record<FailureClass, FailureCode> = {
  auth: 'provider_auth',
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

function codeOf({ failure, setup }: AttemptFailed, single: boolean): FailureCode {
  if (!failure) return setup?.code === 'invalid' || setup?.code === 'configuration' ? setup.code : 'unavailable'
  const late = failure.class === 'down' && /TIMEOUT/.test(failure.code ?? '')
  if (single && late) return 'timeout'
  return passedOn(failure) ?? (single || failure.class === 'auth' ? codes[failure.class] : 'unavailable')
}

/** Statuses by which a provider refuses the request itself. */
const refusals: Readonly<Record<number, FailureCode>> = {
  400: 'invalid',
  404: 'not_found',
  413: 'too_large',
  422: 'unprocessable',
}

/**
 * The class that is the caller's own to mend, or to wait for, also when others were asked after it; undefined where the
 * failure is the provider's. A spent budget counts by its 429 alone: as a 402 it asks no one to wait.
 */
function passedOn(failure: Failure | undefined): FailureCode | undefined {
  if (!failure || ['auth', 'retired'].includes(failure.class)) return undefined
  if (failure.status === 429) return 'rate_limited'
  if (failure.class === 'rate' && isGood(failure.status)) return 'rate_limited'
  if (failure.class === 'quota') return undefined
  if (refusals[failure.status ?? 0]) return refusals[failure.status!]
  return ['request', 'context_length', 'policy', 'model_gone'].includes(failure.class)
    ? codes[failure.class]
    : undefined
}

/** Under a 2xx status the error inside decides alone. */
function isGood(status: number | undefined): boolean {
  return status === undefined || status < 400
}

/** Names of a provider's that say no more than a status: OpenAI's name for a prompt that is too long tells clients more. */
const vague = /^(?:invalid_argument|invalid_request_error|invalid_request_message_order|\d+)$/i

function namesOf({ class: kind, provider }: Failure): ProviderError | undefined {
  const isUnnamed = provider?.code === undefined || vague.test(provider.code)
  return kind === 'context_length' && isUnnamed ? { ...provider, code: 'context_length_exceeded' } : provider
}

/** Failures that no later call mends: the user has to act. */
function isFinal({ failure, setup }: AttemptFailed): boolean {
  return failure ? ['auth', 'quota', 'retired', 'model_gone'].includes(failure.class) : setup !== undefined
}

function earliestOf(failures: readonly AttemptFailed[]): number | undefined {
  return failures.flatMap(({ failure }) => failure?.waitMs ?? []).sort((a, b) => a - b)[0]
}

function nameIn(attempt: Attempt): string {
  return attempt.plugin ?? attempt.runner ?? ''
}

function nameOf(attempt: Attempt): string {
  if (attempt.plugin !== null) return attempt.plugin
  return attempt.runner === 'embedded' ? 'the pulled chat model' : `the local runner ${attempt.runner}`
}

/** `openai gpt-4o: too many requests (status 429, tried twice): slow down` */
function describe({ attempt }: AttemptFailed): string {
  const { class: kind, model, status, tries, error } = attempt
  const facts = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(tries === 0 ? ['not tried'] : tries === 1 ? [] : [tries === 2 ? 'tried twice' : `tried ${tries} times`]),
  ]
  const asked = facts.length > 0 ? ` (${facts.join(', ')})` : ''
  const name = kind === 'down' && status !== undefined ? 'server error' : classNames[kind ?? 'down']
  // A key may have been given instead of a name.
  return `${nameOf(attempt)} ${looksLikeKey(model) ? '[key]' : model}: ${name}${asked}: ${error}`
}
