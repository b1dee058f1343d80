import { DialectError } from '../../protocol/dialect.ts'
import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import { lineLimit } from '../../protocol/sse.ts'
import { field } from './parts.ts'

/**
 * Joins calls whose arguments come in pieces: `willContinue` holds a call open, `partialArgs` are values at JSON paths, and
 * only the first piece has a name (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling).
 */
export interface CallJoiner {
  /** The parts with every call whole, in the place of its last piece. Throws a DialectError for a call without a name. */
  push(parts: readonly JsonObject[]): readonly JsonObject[]
  /**
   * Says that the answer has ended: gives the call that was still open, where none of its values is. Throws a DialectError
   * where one is, unless the answer was `cut` at its limit: that call is left out then.
   */
  end(cut: boolean): readonly JsonObject[]
}

/** A call of which not all has come. */
interface OpenCall {
  readonly part: JsonObject
  readonly name: string
  readonly id: string | undefined
  readonly args: ArgumentBuilder
}

export function createCallJoiner(): CallJoiner {
  let open: OpenCall | undefined

  function close(): readonly JsonObject[] {
    if (!open) return []
    const { part, name, id, args } = open
    open = undefined
    return [{ ...part, functionCall: { ...(id !== undefined && { id }), name, args: args.value() } }]
  }

  function join(part: JsonObject, wire: JsonObject): readonly JsonObject[] {
    const name = stringOf(wire['name']) || undefined
    const id = stringOf(wire['id'])
    const goesOn = field(wire, 'willContinue') === true
    const pieces = field(wire, 'partialArgs')
    // Another name or id begins another call, whether or not the one before was said to be over.
    const isNew = open && ((name !== undefined && name !== open.name) || (id !== undefined && id !== open.id))
    const ended = isNew ? close() : []
    if (!open) {
      if (name === undefined) throw broken('a call without a name')
      if (!goesOn && pieces === undefined) return [...ended, part]
      open = { part, name, id, args: createArgumentBuilder() }
    }
    open.args.add(objectOf(wire['args']))
    for (const piece of objectsOf(pieces)) open.args.set(piece)
    return goesOn ? ended : [...ended, ...close()]
  }

  return {
    push: (parts) =>
      parts.flatMap((part) => {
        const wire = field(part, 'functionCall')
        return isObject(wire) ? join(part, wire) : [part]
      }),
    end(cut) {
      if (!open?.args.isOpen()) return close()
      if (!cut) throw broken('a call whose arguments did not end')
      open = undefined
      return []
    },
  }
}

interface ArgumentBuilder {
  add(args: JsonObject): void
  /** One of Gemini's PartialArg: a value of one kind at a path; a text that continues is gone on with. */
  set(piece: JsonObject): void
  /** Whether a text is begun and not ended. */
  isOpen(): boolean
  value(): JsonObject
}

/** Null for a prototype: the names come from outside. */
type Node = Record<string, unknown> | unknown[]

function createArgumentBuilder(): ArgumentBuilder {
  const root: Record<string, unknown> = Object.create(null)
  const unfinished = new Set<string>()
  let size = 0

  return {
    add: (args) => void Object.assign(root, args),
    set(piece) {
      const path = stringOf(field(piece, 'jsonPath')) ?? ''
      const value = valueIn(piece)
      size += typeof value === 'string' ? value.length + path.length : path.length
      if (size > lineLimit) throw broken(`arguments of more than ${lineLimit} characters`)
      const steps = stepsOf(path)
      const { holder, key } = reach(root, steps)
      const begun = unfinished.has(path) ? (holder as Record<string, unknown>)[key] : undefined
      ;(holder as Record<string, unknown>)[key] =
        typeof begun === 'string' && typeof value === 'string' ? begun + value : (value ?? begun ?? null)
      if (field(piece, 'willContinue') === true) unfinished.add(path)
      else unfinished.delete(path)
    },
    isOpen: () => unfinished.size > 0,
    value: () => JSON.parse(JSON.stringify(root)),
  }
}

function valueIn(piece: JsonObject): unknown {
  for (const name of ['stringValue', 'numberValue', 'boolValue']) {
    const value = field(piece, name)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** The longest way into arguments: levels. */
const deepest = 64

/** `$.place.streets[0]['a name']` as its steps; a number is a place in a list. */
function stepsOf(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = []
  const step = /\.([^.[\]]+)|\[(\d{1,7})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  step.lastIndex = path.startsWith('$') ? 1 : 0
  while (step.lastIndex < path.length) {
    const found = step.exec(path)
    if (!found) throw broken('an argument at a path that cannot be read')
    const [, name, place, single, double] = found
    steps.push(place !== undefined ? Number(place) : (name ?? (single ?? double)!.replace(/\\(.)/g, '$1')))
  }
  if (steps.length === 0 || steps.length > deepest) throw broken('an argument at a path that cannot be read')
  return steps
}

/** Where a value belongs, with what is missing on the way made. A list grows by one at a time. */
function reach(root: Node, steps: readonly (string | number)[]): { readonly holder: Node; readonly key: string } {
  let holder = root
  for (const [at, step] of steps.entries()) {
    if (Array.isArray(holder) !== (typeof step === 'number') || (Array.isArray(holder) && Number(step) > holder.length))
      throw broken('an argument at a path that does not fit the others')
    if (at === steps.length - 1) break
    const inner = (holder as Record<string, unknown>)[String(step)]
    const next: unknown = inner ?? (typeof steps[at + 1] === 'number' ? [] : Object.create(null))
    if (typeof next !== 'object' || next === null) throw broken('an argument at a path that does not fit the others')
    ;(holder as Record<string, unknown>)[String(step)] = next
    holder = next as Node
  }
  return { holder, key: String(steps.at(-1)) }
}

function broken(what: string): DialectError {
  return new DialectError('broken', { message: `The provider's answer cannot be read: it holds ${what}` })
}
