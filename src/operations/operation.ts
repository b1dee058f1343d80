import type { z } from 'zod'
import type { KeyRights, Role, ScopeRule } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import type { RequestWatch } from '../chat/chat.ts'

/** The contract of the core: routes, guards, OpenAPI, commands and the remote client follow from the table. */

/** The access rule; `self` admits administrators and the user of the id in the path. */
export type Access = 'public' | 'user' | 'admin' | 'self'

export type { Role }

/** The authenticated caller. In process: the oldest administrator, or the owner `local` while there are no users. */
export interface Caller {
  readonly id: string
  readonly username: string
  readonly role: Role
  /** The rights of the API key of the call, within those of its owner; undefined for a login and in process. */
  readonly key?: KeyRights | undefined
}

interface CallParts {
  readonly app: App
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined
  /** The client's address, behind trusted proxies; undefined in process. */
  readonly address?: string | undefined
  /** The id of the login, which logging out ends; undefined in process. */
  readonly session?: string | undefined
  /** Follows the request: for its log line, and in process for a terminal. */
  readonly watch?: RequestWatch | undefined
  /** Sets a header of the answer; undefined in process. */
  readonly header?: ((name: string, value: string) => void) | undefined
}

/** The context of a run. */
export interface Call extends CallParts {
  readonly caller: Caller
}

/** The context of a run with access `public`, where a caller is optional. */
export interface PublicCall extends CallParts {
  readonly caller?: Caller | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface OperationParts {
  /** `area.verb`: the name in the OpenAPI document and in logs. */
  readonly name: string
  /** Its method and path, with `:name` for parts that become fields of the input: `GET /api/keys/:id`. */
  readonly route: `${Method} /${string}`
  /** A sentence for the OpenAPI document. */
  readonly summary: string
  /** The media types of an answer that is a Download. */
  readonly produces?: readonly string[]
  /** The longest request body in bytes; default 1 MiB. */
  readonly limit?: number
  /** Fields that a POST or PUT reads from the query; others are in the body, since addresses get into logs. */
  readonly query?: readonly string[]
  /** Statuses of failures that do not follow from the other fields: for the OpenAPI document. */
  readonly failures?: readonly number[]
  /** The scopes that an API key needs for it; without any it is closed to keys. A public operation looks at none. */
  readonly scope?: ScopeRule
  /** Answered with 403 in single-user mode. */
  readonly blockedInSingleUserMode?: true
  /** Refused by address after too many failed logins. */
  readonly loginLimit?: true
  /** May create the first user: until there is one, other machines need the setup token. */
  readonly createsFirstUser?: true
  /** Its answer holds the token of a new login, or its success ends the caller's login: for the cookie of the console. */
  readonly login?: 'opens' | 'ends'
  /** Recorded in the audit table once it succeeded: actor, action, subject, and the address over HTTP. */
  readonly audited?: true
  /** The same for every caller: in process no user is looked up and no database opened. */
  readonly impersonal?: true
  /** The field of the input that the whole JSON body becomes, where its fields must not mix with those of path and query. */
  readonly bodyField?: string
  /** The documented schema of that body, where the area validates it; `name` is its place in the OpenAPI document. */
  readonly bodySchema?: { readonly name: string; readonly schema: z.ZodType }
  /** A request body other than JSON, as a field of the input. */
  readonly upload?: Upload
}

export interface Upload {
  /** The input's field: a text for `multipart`, an async iterable of bytes for `stream`. */
  readonly field: string
  readonly as: 'multipart' | 'stream'
  /** The media types of a stream. */
  readonly types?: readonly string[]
}

interface Typed<I extends z.ZodType, O extends z.ZodType> extends OperationParts {
  /** The schema of path, query and body together: validation, documentation and type. */
  readonly input: I
  readonly output: O
  /** Default 200. */
  readonly status?: 200 | 201
  /** The file name under which the answer is offered for saving. */
  attachment?(output: z.output<O>): string
}

/** The fields that a type names, without those of an index signature. */
type Named<T> = keyof { [K in keyof T as string extends K ? never : K]: unknown }

/** An answer as the core gives it: readonly, and of an interface where the schema allows further fields. */
type Readable<T> = T extends readonly (infer I)[]
  ? readonly Readable<I>[]
  : T extends Download
    ? T
    : T extends object
      ? { readonly [K in keyof T as [Named<T>] extends [never] ? K : string extends K ? never : K]: Readable<T[K]> }
      : T

/** An operation that needs no caller. */
export interface PublicOperation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> extends Typed<I, O> {
  readonly access: 'public'
  // Method syntax on purpose: a field would not be assignable to the plain Operation.
  run(call: PublicCall, input: z.output<I>): Readable<z.input<O>> | Promise<Readable<z.input<O>>>
  readonly locate?: never
  readonly deed?: never
  readonly stream?: never
}

/** An operation that only an authenticated caller may run; `L` is the resource that its path names. */
export interface GuardedOperation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType, L = unknown>
  extends Typed<I, O> {
  readonly access: Exclude<Access, 'public'>
  run(call: Call, input: z.output<I>, located: L): Readable<z.input<O>> | Promise<Readable<z.input<O>>>
  /**
   * Reads the resource that the path names, for `run`; throws when it is not found or not the caller's. Called before the
   * rest of the input is validated, so that validation messages tell other users nothing.
   */
  locate?(call: Call, path: Readonly<Record<string, string>>): L | Promise<L>
  /** What the audit says of a run, where its own name and the id in its path do not; undefined where nothing was done. */
  deed?(input: z.output<I>, output: z.output<O>, located: L): Deed | undefined
  /** Streams the answer where the input asks for it. */
  readonly stream?: StreamOf<I>
}

/** What the audit says of a run: never a content, a key or a password. */
export interface Deed {
  /** By default the name of the operation. */
  readonly action?: string
  /** By default the id in the path or in the answer. */
  readonly subject?: string
  /** The name of a user or a key, which the subject is. */
  readonly name?: string
}

/** The two parts of a route. */
export interface Place {
  readonly method: Method
  readonly path: `/${string}`
}

export type Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> = Place &
  (PublicOperation<I, O> | GuardedOperation<I, O>)

export interface StreamOf<I extends z.ZodType = z.ZodType> {
  wanted(input: z.output<I>): boolean
  /** Resolves at the commit point, before which a failure is an error answer; the iteration throws on a later failure. */
  run(
    call: Call,
    input: z.output<I>,
  ): Promise<{ readonly chunks: AsyncIterable<unknown>; readonly headers?: Readonly<Record<string, string>> }>
}

/** An answer of bytes in place of JSON. */
export class Download {
  readonly type: string
  readonly filename: string | undefined
  readonly body: AsyncIterable<Uint8Array> | Uint8Array
  readonly headers: Readonly<Record<string, string>>
  /** The names of headers that are final at the end of the body alone; over HTTP they are repeated as trailers. */
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

/** Types an operation by its schemas, and reads the parts of its route. */
export function defineOperation<I extends z.ZodType, O extends z.ZodType>(
  operation: PublicOperation<I, O>,
): PublicOperation<I, O> & Place
export function defineOperation<I extends z.ZodType, O extends z.ZodType, L = void>(
  operation: GuardedOperation<I, O, L>,
): GuardedOperation<I, O, L> & Place
export function defineOperation(operation: PublicOperation | GuardedOperation): Operation {
  const [method, path] = operation.route.split(' ') as [Method, Place['path']]
  return { ...operation, method, path }
}

/** Runs an operation: in this process, or over HTTP, where `watch` hears nothing. */
export type Ask = <I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  input: z.input<I>,
  signal?: AbortSignal,
  watch?: RequestWatch,
) => Promise<z.output<O>>

export type AskStream = <I extends z.ZodType>(
  operation: Operation<I>,
  input: z.input<I>,
  signal?: AbortSignal,
  watch?: RequestWatch,
) => Promise<AsyncIterable<unknown>>

/** The answer of an operation, for clients that are typed by the table. */
export type OutputOf<T extends { readonly output: z.ZodType }> = z.output<T['output']>
