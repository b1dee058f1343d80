import { AppError } from '../../errors.ts'
import { isObject, type JsonObject } from './json.ts'

/** Collects what is wrong with a client's request, each with its path, to be told all at once. */
export interface RequestCheck {
  /** Notes a problem unless `fine`; returns `fine`. */
  expect(fine: boolean, path: string, wish: string): boolean
  /** Throws an AppError `invalid` with every problem noted, if any. */
  done(): void
}

export function checkRequest(): RequestCheck {
  const problems: string[] = []
  return {
    expect(fine, path, wish) {
      if (!fine) problems.push(`${path} ${wish}`)
      return fine
    },
    done() {
      if (problems.length > 0) throw new AppError('invalid', 'Invalid chat request', { details: problems.slice(0, 20) })
    },
  }
}

/** The body as an object whose field `name` is a list of objects, or an AppError `invalid` that says what is wrong. */
export function requestBody(body: unknown, name: string): { fields: JsonObject; turns: readonly JsonObject[] } {
  const check = checkRequest()
  const fields = isObject(body) ? body : {}
  const turns = fields[name]
  if (check.expect(isObject(body), 'The request', 'must be a JSON object'))
    if (check.expect(Array.isArray(turns), name, 'must be a list'))
      for (const [index, turn] of (turns as unknown[]).entries())
        check.expect(isObject(turn), `${name}[${index}]`, 'must be an object')
  check.done()
  return { fields, turns: turns as readonly JsonObject[] }
}

/** Says that a dialect cannot do what was asked for; the caller can ask without it or choose another provider. */
export function cannotSay(what: string): AppError {
  return new AppError('invalid', what)
}
