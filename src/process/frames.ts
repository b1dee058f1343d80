import { AppError, type FailureCode } from '../errors.ts'

/** The frames between a process and its child: plain data over Node's IPC channel, sent by structured clone. */

export type ToChild =
  | { readonly type: 'request'; readonly call: number; readonly method: string; readonly input: unknown }
  | { readonly type: 'cancel'; readonly call: number }

/** A request is answered by any number of items, then by one result or failure. */
export type FromChild =
  | { readonly type: 'item'; readonly call: number; readonly item: unknown }
  | { readonly type: 'result'; readonly call: number; readonly result: unknown }
  | { readonly type: 'failed'; readonly call: number; readonly failure: Failure }

/** One method of a child: its input, the items that it emits on the way, its result. All are plain data. */
export interface Method {
  readonly input: unknown
  readonly item?: unknown
  readonly result?: unknown
}

/** The methods of a child by name: `interface EngineMethods { speak: { input: string; item: Float32Array } }`. */
export type Methods<M> = { readonly [K in keyof M]: Method }

export type Input<M extends Methods<M>, K extends keyof M> = M[K]['input']
export type Item<M extends Methods<M>, K extends keyof M> = M[K] extends { readonly item: infer I } ? I : never
export type Result<M extends Methods<M>, K extends keyof M> = M[K] extends { readonly result: infer R } ? R : undefined

/** The method of a process that does a single task. */
export interface TaskMethods {
  readonly perform: { readonly input: unknown; readonly result: unknown }
}

export interface Failure {
  readonly name?: string
  readonly message: string
  /** Present for an AppError. */
  readonly app?: { readonly code: FailureCode; readonly details: readonly string[]; readonly retryAfter?: number }
  /** Code, path and call of an error of the file system or the database; `toAppError` reads them. */
  readonly system?: { readonly code: string; readonly path?: string; readonly syscall?: string }
  /** The text of the cause, for the log only. */
  readonly cause?: string
}

/** Characters of a cause that cross: native libraries write pages. */
const longestCause = 500

/** A failure as it crosses to the other process: an AppError with code and details, others with system fields. */
export function failureOf(reason: unknown): Failure {
  if (!(reason instanceof Error)) return { message: String(reason) }
  if (!(reason instanceof AppError)) return { name: reason.name, message: reason.message, ...systemFields(reason) }
  const { code, details, retryAfter, message, cause } = reason
  return {
    message,
    app: { code, details, ...(retryAfter !== undefined && { retryAfter }) },
    ...(cause !== undefined && { cause: String(cause).slice(0, longestCause) }),
  }
}

function systemFields(reason: Error): Pick<Failure, 'system'> {
  const { code, path, syscall } = reason as { code?: unknown; path?: unknown; syscall?: unknown }
  if (typeof code !== 'string' || !/^(?:E|SQLITE_)[A-Z_]+$/.test(code)) return {}
  return {
    system: { code, ...(typeof path === 'string' && { path }), ...(typeof syscall === 'string' && { syscall }) },
  }
}

/** The AppError that was thrown in the child, or an Error with its name, message, code, path and syscall. */
export function errorOf({ name = 'Error', message, app, system, cause }: Failure): Error {
  if (app) return new AppError(app.code, message, { ...app, ...(cause !== undefined && { cause: new Error(cause) }) })
  return Object.assign(new Error(message), { name, ...system })
}
