import { AppError } from '../../src/errors.ts'

/**
 * Opens a model by `open`. An `invalid` file, which `open` names, is thrown as `unavailable`, since a request for speech does
 * not contain the model; other errors stay as they are.
 */
export async function openedModel<Model>(open: () => Promise<Model>): Promise<Model> {
  try {
    return await open()
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'invalid') throw thrown
    throw new AppError('unavailable', thrown.message, { details: thrown.details, cause: thrown })
  }
}
