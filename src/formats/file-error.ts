import { AppError } from '../errors.ts'

/** What went wrong, in the one way that decides what to do about it. */
export type ProblemKind =
  /** The data is not what was exported. */
  | 'damaged'
  /** Another program, or a newer version, would understand it. */
  | 'unsupported'
  /** It cannot be told who wrote it: a wrong passphrase, or a sealed part that was changed. */
  | 'not_authenticated'

/** A file that cannot be read, and why: `kind` decides what its reader can do about it. */
export class FileError extends AppError {
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, message: string, options: ErrorOptions = {}) {
    super('invalid', message, options)
    this.kind = kind
  }
}

/** The error of a file whose bytes are not what its writer wrote. */
export function damaged(message: string, cause?: unknown): FileError {
  return new FileError('damaged', message, { cause })
}

/** The error of a file that another program, or a newer version of this one, can read. */
export function unsupported(message: string): FileError {
  return new FileError('unsupported', message)
}
