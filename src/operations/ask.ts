import type { z } from 'zod'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { authorise } from './access.ts'
import type { Ask, AskStream, Call, Caller, Operation } from './operation.ts'

/** Validates an input. Throws `invalid` with one line per problem. */
export function parseInput<I extends z.ZodType>(operation: Pick<Operation<I>, 'input'>, raw: unknown): z.output<I> {
  const parsed = operation.input.safeParse(raw)
  if (parsed.success) return parsed.data
  throw new AppError('invalid', 'Invalid request', { details: problemsOf(parsed.error) })
}

/** One line per problem: `messages.0.role: …`. */
function problemsOf(error: z.ZodError): readonly string[] {
  return error.issues.map((issue) => {
    const path = issue.path.map(String).join('.')
    const message =
      issue.code === 'invalid_type' && /received undefined/.test(issue.message) ? 'is missing' : issue.message
    return path ? `${path}: ${message}` : message
  })
}

/** The caller while there are no users: the owner of the data folder. */
export const localOwner: Caller = { id: 'local', username: 'local', role: 'admin' }

/** Finds the caller of an operation in this process. */
export type LocalCaller = (operation: Pick<Operation, 'impersonal'>) => Caller | Promise<Caller>

/** Runs operations in this process for a caller: the same checks as over HTTP, except for the token. */
export function askInProcess(
  app: App,
  principal: Caller | LocalCaller,
): { readonly ask: Ask; readonly askStream: AskStream } {
  return {
    async ask(operation, raw, signal) {
      const { call, located } = await open(operation, raw, signal)
      return (await operation.run(call, parseInput(operation, raw), located)) as never
    },
    async askStream(operation, raw, signal) {
      const { call } = await open(operation, raw, signal)
      const input = parseInput(operation, raw)
      if (!operation.stream) throw new AppError('internal', `${operation.name} does not stream`)
      return (await operation.stream.run(call, input)).chunks
    },
  }

  async function open(
    operation: Pick<Operation, 'access' | 'blockedInSingleUserMode' | 'impersonal' | 'locate'>,
    raw: unknown,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly call: Call; readonly located: unknown }> {
    const caller = typeof principal === 'function' ? await principal(operation) : principal
    const texts = textsOf(raw)
    const { singleUserMode } = app.settings
    const accounts = singleUserMode && caller.id !== localOwner.id ? await app.accounts() : undefined
    await authorise(operation, caller, texts['id'], {
      singleUser: singleUserMode,
      // Without users, every caller is the owner of the data folder.
      isDefaultAdministrator: (id) => accounts?.isDefaultAdministrator(id) ?? true,
    })
    const call: Call = { app, caller, signal }
    return { call, located: await operation.locate?.(call, texts) }
  }
}

/** The texts of an input: over HTTP they are in the path. */
function textsOf(raw: unknown): Record<string, string> {
  const fields = Object.entries((raw ?? {}) as Record<string, unknown>)
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}
