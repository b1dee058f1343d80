import { AppError } from '../../errors.ts'

/** Seconds after which there may be room again: by a notified operator, or by a rotation of logs. */
const diskRetry = 30

/** A failure of SQLite as an AppError that names the remedy; any other value comes back as it is. */
export function translated(thrown: unknown): unknown {
  const code = String((thrown as { code?: unknown } | null)?.code ?? '')
  if (!code.startsWith('SQLITE_')) return thrown
  if (code === 'SQLITE_FULL') return new AppError('io', 'The disk is full', { cause: thrown, retryAfter: diskRetry })
  if (/^SQLITE_(?:CANTOPEN|READONLY|PERM)/.test(code))
    return new AppError('io', 'The database may not be opened or written', {
      details: ['Check the owner and the permissions of its folder'],
      cause: thrown,
      retryAfter: diskRetry,
    })
  if (code.startsWith('SQLITE_IOERR'))
    return new AppError('io', 'The disk could not be read or written', { cause: thrown, retryAfter: diskRetry })
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT'))
    return new AppError('configuration', 'The database is damaged', {
      details: ['Stop aichat and restore the database from a backup'],
      cause: thrown,
    })
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code))
    return new AppError('busy', 'The database is locked by another process', { cause: thrown, retryAfter: 5 })
  return new AppError('internal', 'Internal server error', { cause: thrown })
}

/** The store with methods that fail with AppErrors instead of SQLite's, whether they throw or reject; `onBusy` hears of each lock. */
export function translating<S extends object>(store: S, onBusy: (waitedMs: number) => void = () => {}): S {
  const methods = Object.entries(store as Record<string, (...given: unknown[]) => unknown>)
  return Object.fromEntries(methods.map(([name, method]) => [name, withAppErrors(method, onBusy)])) as S
}

function withAppErrors(
  method: (...given: unknown[]) => unknown,
  onBusy: (waitedMs: number) => void,
): (...given: unknown[]) => unknown {
  const failed = (reason: unknown, began: number): never => {
    const error = translated(reason)
    if (error !== reason && error instanceof AppError && error.code === 'busy') onBusy(performance.now() - began)
    throw error
  }
  return (...given) => {
    const began = performance.now()
    try {
      const result = method(...given)
      return result instanceof Promise ? result.catch((reason: unknown) => failed(reason, began)) : result
    } catch (reason) {
      return failed(reason, began)
    }
  }
}
