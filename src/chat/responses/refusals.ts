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

/** The same answer for a conversation that is unknown, expired, removed or another reader's. */
export function conversationNotFound(id: string, details: readonly string[] = []): AppError {
  const message = `Conversation with id '${id.slice(0, 200)}' not found.`
  return new AppError('not_found', message, { details, provider: { type: 'invalid_request_error' } })
}

export function itemNotFound(conversation: string, item: string): AppError {
  const message = `Item with id '${item.slice(0, 200)}' not found in conversation '${conversation}'.`
  return new AppError('not_found', message, { provider: { type: 'invalid_request_error' } })
}

/** The refusal of a request that continues with a response and with a conversation, in OpenAI's words. */
export function bothBehind(): AppError {
  const names = "'previous_response_id' and 'conversation'"
  const message = `Mutually exclusive parameters: ${names}. Ensure you are only providing one of: ${names}.`
  return wrongField('conversation', message, [], 'mutually_exclusive_parameters')
}

export function responseNotFound(id: string): AppError {
  return new AppError('not_found', `Response with id '${id}' not found.`, {
    provider: { type: 'invalid_request_error' },
  })
}
