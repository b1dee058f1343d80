import { AppError } from '../errors.ts'

/** The failure of a file, by the action that it calls for. */
type ProblemKind =
  /** The data differs from the export. */
  | 'damaged'
  /** Another program, or a newer version, would understand it. */
  | 'unsupported'
  /** Its author cannot be verified: a wrong passphrase, or a sealed part that was changed. */
  | 'not_authenticated'

/** A file that cannot be read; `kind` decides the action. */
export class FileError extends AppError {
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, message: string, options: ErrorOptions = {}) {
    super('invalid', message, options)
    this.kind = kind
  }
}

/** The error of a file that was changed after it was written. */
export function damaged(message: string, cause?: unknown): FileError {
  return new FileError('damaged', message, { cause })
}

/** The error of a file that another program, or a newer version of this one, can read. */
export function unsupported(message: string): FileError {
  return new FileError('unsupported', message)
}
