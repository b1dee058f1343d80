import { z } from 'zod'
import type { App } from '../app/app.ts'
import type { RequestWatch } from '../chat/chat.ts'
import { AppError, mostDetails } from '../errors.ts'
import { validate } from '../formats/formats.ts'
import { authorise } from './access.ts'
import { recordDeed, recordedAtEnd } from './deeds.ts'
import type { Ask, AskStream, Call, Caller, GuardedOperation, Operation, Place } from './operation.ts'

/** Validates an input. Throws `invalid` with one line per problem. */
export function parseInput<I extends z.ZodType>(operation: Pick<Operation<I>, 'input'>, raw: unknown): z.output<I> {
  const cut = untilTooWrong(operation.input, raw)
  const valid = validate(operation.input, Object.keys(cut).length > 0 ? { ...(raw as object), ...cut } : raw)
  if (valid.problems === undefined) return valid.data
  const unread = Object.entries(cut).map(
    ([name, list]) => `${name}: the items from ${list.length} on were not verified`,
  )
  throw new AppError('invalid', 'Invalid request', { details: [...valid.problems, ...unread] })
}

/** Wrong items of a long list after which the rest is not verified: with a line that says so an answer is full. */
const mostWrong = mostDetails - 1

/** Items that are verified in some milliseconds, also where each is wrong. */
const shortList = 100

/** The long lists of an input that hold so many wrong items, cut after the last of them: to verify 5,000 takes 0.2 s. */
function untilTooWrong(schema: z.ZodType, raw: unknown): Record<string, readonly unknown[]> {
  const cut: Record<string, readonly unknown[]> = {}
  if (!(schema instanceof z.ZodObject) || typeof raw !== 'object' || raw === null) return cut
  for (const [name, list] of Object.entries(raw)) {
    const field: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined
    if (!Array.isArray(list) || list.length <= shortList || !(field instanceof z.ZodArray)) continue
    const item = field.element as z.ZodType
    let wrong = 0
    const end = list.findIndex((each) => !item.safeParse(each).success && ++wrong === mostWrong)
    if (end >= 0) cut[name] = list.slice(0, end + 1)
  }
  return cut
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
    async ask(operation, raw, signal, watch) {
      const { call, located } = await open(operation, raw, signal, watch)
      const input = parseInput(operation, raw)
      const output: unknown = await operation.run(call, input, located)
      if (operation.access !== 'public')
        await recordDeed(operation as GuardedOperation & Place, call, { input, output, located })
      return output as never
    },
    async askStream(operation, raw, signal, watch) {
      const { call, located } = await open(operation, raw, signal, watch)
      const input = parseInput(operation, raw)
      if (!operation.stream) throw new AppError('internal', `${operation.name} does not stream`)
      const { chunks } = await operation.stream.run(call, input)
      return operation.audited ? recordedAtEnd(chunks, operation, call, { input, located }) : chunks
    },
  }

  async function open(
    operation: Pick<
      Operation,
      'access' | 'scope' | 'blockedInSingleUserMode' | 'impersonal' | 'locate' | 'method' | 'path'
    >,
    raw: unknown,
    signal: AbortSignal | undefined,
    watch: RequestWatch | undefined,
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
    const call: Call = { app, caller, signal, watch }
    if (caller.key?.personas) {
      const { requireListedPersona } = await import('./key-lists.ts')
      await requireListedPersona(call, operation, texts)
    }
    return { call, located: await operation.locate?.(call, texts) }
  }
}

/** The texts of an input: over HTTP they are in the path. */
function textsOf(raw: unknown): Record<string, string> {
  const fields = Object.entries((raw ?? {}) as Record<string, unknown>)
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}
