import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'

/** Resolves with the AppError of that code, with a matching sentence and details; fails the test where there is none. */
export async function rejects(promise: Promise<unknown>, code: string, message: RegExp): Promise<AppError> {
  try {
    await promise
  } catch (reason) {
    assert.instance(reason, AppError)
    const error = reason as AppError
    assert.is(error.code, code)
    assert.match([error.message, ...error.details].join('\n'), message)
    return error
  }
  return assert.unreachable('it was accepted') as never
}

/** The AppError with which a promise rejects, or a function throws; throws any other reason, and where there is none. */
export async function errorOf(work: Promise<unknown> | (() => unknown)): Promise<AppError> {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}
