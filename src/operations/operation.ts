import type { z } from 'zod'
import type { Role } from '../accounts/users.ts'
import type { App } from '../app/app.ts'

/**
 * The contract: everything that can be asked of the core, each thing said once. From the table of operations follow the
 * REST routes with their guards, the OpenAPI document, the calls of the command line, and those of its remote client.
 */

/** Who may ask: anybody, any user, an administrator, or an administrator and the user whose id is in the path. */
export type Access = 'public' | 'user' | 'admin' | 'self'

export type { Role }

/** The one who asks. In process that is the oldest administrator, or the owner `local` while there are no users. */
export interface Caller {
  readonly id: string
  readonly username: string
  readonly role: Role
}

interface Asked {
  readonly app: App
  /** Aborted when the caller goes away. */
  readonly signal?: AbortSignal | undefined
  /** The caller's address, as the server's rules for proxies say; undefined in process. */
  readonly address?: string | undefined
  /** The id of the caller's login, where there is one: logging out ends it. */
  readonly session?: string | undefined
  /** Says something beside the answer: a header over HTTP, nothing in process. */
  readonly header?: ((name: string, value: string) => void) | undefined
}

/** How an operation is asked. */
export interface Call extends Asked {
  readonly caller: Caller
}

/** How an operation of access `public` is asked: perhaps by nobody who is known. */
export interface PublicCall extends Asked {
  readonly caller?: Caller | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface Described {
  /** `area.verb`: the name in the OpenAPI document and in logs. */
  readonly name: string
  readonly method: Method
  /** With `:name` for parts that become fields of the input. */
  readonly path: `/${string}`
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  /** The media types of an answer that is a Download. */
  readonly produces?: readonly string[]
  /** The longest request body in bytes; 1 MiB where nothing is said. */
  readonly limit?: number
  /**
   * The fields that a POST or PUT takes from the query. All others come from its body: what stands in an address ends up in
   * logs and histories, and a page of another site can make a browser send it.
   */
  readonly query?: readonly string[]
  /** Statuses of failures that do not follow from what else is stated here: for the OpenAPI document. */
  readonly failures?: readonly number[]
  /** Answered with 403 in single-user mode. */
  readonly blockedInSingleUserMode?: true
  /** Done over HTTP, it is kept in the audit table: who, what, to which id, from where. */
  readonly audited?: true
  /** The same for everybody who may ask: in process nobody needs to be looked up, and no database is opened. */
  readonly impersonal?: true
  /** The field of the input that the whole JSON body becomes, where its fields must not mix with those of path and query. */
  readonly bodyField?: string
  /** The documented schema of that body, where the area validates it; `name` is its place in the OpenAPI document. */
  readonly bodySchema?: { readonly name: string; readonly schema: z.ZodType }
  /** How a request body that is no JSON becomes a field of the input. */
  readonly upload?: Upload
}

export interface Upload {
  /** The input's field: a text for `multipart`, an async iterable of bytes for `stream`. */
  readonly field: string
  readonly as: 'multipart' | 'stream'
  /** The media types that a stream is read in. */
  readonly types?: readonly string[]
}

interface Typed<I extends z.ZodType, O extends z.ZodType> extends Described {
  /** One object: path, query and body together. The one validation, the documented schema and the type. */
  readonly input: I
  readonly output: O
  /** 200 unless said otherwise. */
  readonly status?: 200 | 201
  /** The file name under which the answer is offered for saving. */
  attachment?(output: z.output<O>): string
}

/** An operation that anybody may ask. */
export interface PublicOperation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> extends Typed<I, O> {
  readonly access: 'public'
  // Method syntax on purpose: a field would not be assignable to the plain Operation.
  run(call: PublicCall, input: z.output<I>): z.input<O> | Promise<z.input<O>>
  readonly locate?: never
  readonly stream?: never
}

/** An operation that only an authenticated caller may run; `L` is the resource that its path names. */
export interface GuardedOperation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType, L = unknown>
  extends Typed<I, O> {
  readonly access: Exclude<Access, 'public'>
  run(call: Call, input: z.output<I>, located: L): z.input<O> | Promise<z.input<O>>
  /**
   * Reads the resource that the path names, for `run`; throws when it is not found or not the caller's. Called before the
   * rest of the input is validated, so that validation messages tell other users nothing.
   */
  locate?(call: Call, path: Readonly<Record<string, string>>): L | Promise<L>
  /** Streams the answer where the input asks for it. */
  readonly stream?: StreamOf<I>
}

export type Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> =
  | PublicOperation<I, O>
  | GuardedOperation<I, O>

export interface StreamOf<I extends z.ZodType = z.ZodType> {
  wanted(input: z.output<I>): boolean
  /** Resolves when the answer is certain to begin; the iteration throws when it breaks off. */
  run(
    call: Call,
    input: z.output<I>,
  ): Promise<{ readonly chunks: AsyncIterable<unknown>; readonly headers?: Readonly<Record<string, string>> }>
}

/** Bytes as an answer, in place of JSON. */
export class Download {
  readonly type: string
  readonly filename: string | undefined
  readonly body: AsyncIterable<Uint8Array> | Uint8Array
  readonly headers: Readonly<Record<string, string>>
  /** The names of headers whose value is final only when the body has ended; over HTTP they come again as trailers. */
  readonly trailers: readonly string[]

  constructor(
    type: string,
    body: AsyncIterable<Uint8Array> | Uint8Array,
    options: {
      readonly filename?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly trailers?: readonly string[]
    } = {},
  ) {
    this.type = type
    this.body = body
    this.filename = options.filename
    this.headers = options.headers ?? {}
    this.trailers = options.trailers ?? []
  }
}

/** States an operation; the types of its parts follow from its schemas. */
export function defineOperation<I extends z.ZodType, O extends z.ZodType>(
  operation: PublicOperation<I, O>,
): PublicOperation<I, O>
export function defineOperation<I extends z.ZodType, O extends z.ZodType, L = void>(
  operation: GuardedOperation<I, O, L>,
): GuardedOperation<I, O, L>
export function defineOperation(operation: Operation): Operation {
  return operation
}

/** Asks for an operation: in this process, or over HTTP. */
export type Ask = <I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  input: z.input<I>,
  signal?: AbortSignal,
) => Promise<z.output<O>>

/** The same for an operation that streams. */
export type AskStream = <I extends z.ZodType>(
  operation: Operation<I>,
  input: z.input<I>,
  signal?: AbortSignal,
) => Promise<AsyncIterable<unknown>>
