import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import { lineLimit } from '../../protocol/sse.ts'
import { malformedResponse } from '../shared/wire-error.ts'
import { field } from './content.ts'

/**
 * Joins calls with arguments in pieces: `willContinue` holds a call open, `partialArgs` are values at JSON paths, and
 * only the first piece has a name (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling).
 */
export interface CallJoiner {
  /** The parts with every call whole, in the place of its last piece. Throws a DialectError for a call without a name. */
  push(parts: readonly JsonObject[]): readonly JsonObject[]
  /**
   * Ends the answer: returns the call that was still open. Throws a DialectError where one of its values is unfinished,
   * unless the answer was `cut` at its limit: then that call is left out.
   */
  end(cut: boolean): readonly JsonObject[]
}

/** A call with pieces still to come. */
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
    // Another name or id begins another call, whether or not the one before was ended.
    const isNew = open && ((name !== undefined && name !== open.name) || (id !== undefined && id !== open.id))
    const ended = isNew ? close() : []
    if (!open) {
      if (name === undefined) throw malformedResponse('it holds a call without a name')
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
      if (!cut) throw malformedResponse('it holds a call whose arguments did not end')
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
      if (size > lineLimit) throw malformedResponse(`it holds arguments of more than ${lineLimit} characters`)
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
    if (!found) throw malformedResponse('it holds an argument at a path that cannot be read')
    const [, name, place, single, double] = found
    steps.push(place !== undefined ? Number(place) : (name ?? (single ?? double)!.replace(/\\(.)/g, '$1')))
  }
  if (steps.length === 0 || steps.length > deepest)
    throw malformedResponse('it holds an argument at a path that cannot be read')
  return steps
}

/** The holder and key of a value; creates missing levels on the way. A list grows by one at a time. */
function reach(root: Node, steps: readonly (string | number)[]): { readonly holder: Node; readonly key: string } {
  let holder = root
  for (const [at, step] of steps.entries()) {
    if (Array.isArray(holder) !== (typeof step === 'number') || (Array.isArray(holder) && Number(step) > holder.length))
      throw malformedResponse('it holds an argument at a path that does not fit the others')
    if (at === steps.length - 1) break
    const inner = (holder as Record<string, unknown>)[String(step)]
    const next: unknown = inner ?? (typeof steps[at + 1] === 'number' ? [] : Object.create(null))
    if (typeof next !== 'object' || next === null)
      throw malformedResponse('it holds an argument at a path that does not fit the others')
    ;(holder as Record<string, unknown>)[String(step)] = next
    holder = next as Node
  }
  return { holder, key: String(steps.at(-1)) }
}
