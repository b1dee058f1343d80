/**
 * The one table of failures: code → HTTP status → exit code.
 * Exit codes are those of sysexits(3), so that scripts and systemd can tell the classes apart. `final` marks failures that
 * a retry cannot mend, though clients retry their status.
 */
const failures = {
  /** Something the caller asked to know: a declined question, a partial failure, a check that found something. */
  found: { status: 400, exit: 1 },
  usage: { status: 400, exit: 64 },
  /** The data offered is wrong: an invalid plugin or package, a weak password, a name already taken. */
  invalid: { status: 400, exit: 65 },
  too_large: { status: 413, exit: 65 },
  /** A provider read the request and refuses its content. */
  unprocessable: { status: 422, exit: 65 },
  unsupported_media: { status: 415, exit: 65 },
  /** A request that expects a behaviour of the server which it does not have. */
  expectation: { status: 417, exit: 64 },
  /** The bytes of a request come too slowly or stop coming. */
  too_slow: { status: 408, exit: 75 },
  no_input: { status: 400, exit: 66 },
  not_found: { status: 404, exit: 67 },
  /** Changed by another process meanwhile: a caller that reads it again can succeed. */
  conflict: { status: 409, exit: 75 },
  method_not_allowed: { status: 405, exit: 64 },
  /** No answer is possible: a provider, runner, engine or server is not there, or a port is taken. */
  unavailable: { status: 503, exit: 69 },
  internal: { status: 500, exit: 70 },
  cannot_create: { status: 400, exit: 73 },
  /** The disk is full, read-only or broken: of no fault of the caller's, and it may work again. */
  io: { status: 503, exit: 74 },
  rate_limited: { status: 429, exit: 75 },
  /** A queue is full or a lock is held: the same call can succeed later. */
  busy: { status: 503, exit: 75 },
  timeout: { status: 504, exit: 75 },
  /** A reply that does not parse or breaks off. */
  protocol: { status: 502, exit: 76 },
  unauthenticated: { status: 401, exit: 77, final: true },
  /** The text of an API key that is none of ours, or of one that is dead. */
  invalid_api_key: { status: 401, exit: 77, final: true },
  /** An API key that ended while its answer was under way. */
  key_revoked: { status: 401, exit: 77, final: true },
  forbidden: { status: 403, exit: 77 },
  /** An API key without the scope, or the persona, that a call needs. */
  key_scope: { status: 403, exit: 77, final: true },
  /** An API key with none of the places that could answer in its lists. */
  model_not_allowed: { status: 403, exit: 77, final: true },
  /** A provider refuses our key. Not 401, which would mean the caller's own token. */
  provider_auth: { status: 503, exit: 77, final: true },
  /** Something has to be set up first: a key variable, a secret, a database. */
  configuration: { status: 503, exit: 78, final: true },
} as const satisfies Record<string, FailureRow>

interface FailureRow {
  readonly status: number
  readonly exit: number
  readonly final?: true
}

export type FailureCode = keyof typeof failures

/** The names of a provider's error, passed on unchanged for clients that go by them. */
export interface ProviderError {
  readonly code?: string
  readonly type?: string
  /** The field of the request that the provider does not take. */
  readonly param?: string
  /** The `details` of Anthropic's errors. */
  readonly details?: Readonly<Record<string, unknown>>
}

export interface AppErrorOptions extends ErrorOptions {
  /** One line per thing that was wrong or can be done about it; beyond `mostDetails` the rest is given as a count. */
  readonly details?: readonly string[]
  /** Whole seconds after which the same call may succeed; becomes `Retry-After`. */
  readonly retryAfter?: number
  /** The provider's own names for it, where a provider is the reason. */
  readonly provider?: ProviderError
  /** A retry cannot succeed, though clients may retry this status: becomes `x-should-retry: false`. */
  readonly final?: boolean
  /** Headers that tell HTTP clients more about it, such as the limits that are reached. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The most details of one failure: a hostile input can make a million. */
export const mostDetails = 20

/** The longest line of a failure in characters: a name that comes back in it may be as long as a request. */
const longestLine = 4000

/** The first lines of a report, and how many more there are. */
export function shortened(lines: readonly string[]): readonly string[] {
  // A report that another aichat shortened has one line more and is left as it is.
  const shown = lines.length > mostDetails + 1 ? lines.slice(0, mostDetails) : lines
  const short = shown.map(shortLine)
  return shown === lines ? short : [...short, `and ${lines.length - mostDetails} more`]
}

function shortLine(line: string): string {
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
}

/** Every failure that a face may show. The message is one sentence a user can act on; the real reason is in `cause`. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: FailureCode
  readonly details: readonly string[]
  readonly retryAfter: number | undefined
  readonly provider: ProviderError | undefined
  readonly final: boolean
  readonly headers: Readonly<Record<string, string>>

  constructor(code: FailureCode, message: string, options: AppErrorOptions = {}) {
    super(shortLine(message), options)
    this.code = code
    this.details = shortened(options.details ?? [])
    this.retryAfter = options.retryAfter
    this.provider = options.provider
    const row: FailureRow = failures[code]
    this.final = options.final ?? row.final === true
    this.headers = options.headers ?? {}
  }

  /** The code for clients: the provider's, which is more precise, else ours. */
  get shownCode(): string {
    return this.provider?.code ?? this.code
  }

  get status(): number {
    return failures[this.code].status
  }

  get exit(): number {
    return failures[this.code].exit
  }
}

/** The exit code of failures with this code. */
export function exitOf(code: FailureCode): number {
  return failures[code].exit
}

/** Any other error is a bug or the machine's fault: its text stays in `cause` and is never shown as is. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const code = (thrown as { code?: unknown } | null)?.code
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new AppError('io', 'The disk is full', { cause: thrown, retryAfter: 30 })
  if (isRefusedPath(thrown))
    return new AppError('io', 'A file or folder of aichat may not be read or written', {
      details: ['Check its owner and its permissions'],
      cause: thrown,
    })
  if (code === 'EMFILE' || code === 'ENFILE')
    return new AppError('io', 'Too many files are open', { details: ['Raise the limit: ulimit -n'], cause: thrown })
  if (code === 'EIO') return new AppError('io', 'The disk could not be read or written', { cause: thrown })
  return new AppError('internal', 'Internal server error', { cause: thrown })
}

/** A path that the system refused to this user, including a folder that cannot be made for any reason. */
function isRefusedPath(thrown: unknown): boolean {
  const { code, path, syscall } = (thrown ?? {}) as { code?: unknown; path?: unknown; syscall?: unknown }
  if (typeof path !== 'string') return false
  return ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(String(code)) || syscall === 'mkdir'
}

/** Whether a text is the code of a failure with this HTTP status, as in the answer of another aichat. */
export function isFailureCode(text: unknown, status?: number): text is FailureCode {
  if (typeof text !== 'string' || !Object.hasOwn(failures, text)) return false
  return status === undefined || failures[text as FailureCode].status === status
}

/** The failure with this HTTP status, for a client that reads another server's answer. */
export function failureOfStatus(status: number): FailureCode {
  const preferred: Record<number, FailureCode> = { 400: 'invalid', 500: 'internal', 503: 'unavailable' }
  const found =
    preferred[status] ?? (Object.keys(failures) as FailureCode[]).find((code) => failures[code].status === status)
  return found ?? (status >= 500 ? 'unavailable' : 'invalid')
}
