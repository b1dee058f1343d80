import { AppError } from '../../errors.ts'

/** A refusal of a request that names the field, as OpenAI's errors do. */
export function wrongField(param: string, message: string, details: readonly string[] = [], code?: string): AppError {
  const provider = { type: 'invalid_request_error', param, ...(code !== undefined && { code }) }
  return new AppError('invalid', message, { details, provider })
}

/** The same answer for a response that is unknown, expired, removed or another reader's. */
export function previousNotFound(id: string, details: readonly string[] = []): AppError {
  const message = `Previous response with id '${id}' not found.`
  return wrongField('previous_response_id', message, details, 'previous_response_not_found')
}

export function responseNotFound(id: string): AppError {
  return new AppError('not_found', `Response with id '${id}' not found.`, {
    provider: { type: 'invalid_request_error' },
  })
}
