import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync } from 'node:fs'
import {
  canonicalize,
  damaged,
  itemSpans,
  memberSpans,
  parseStrictJsonBytes,
  readSpan,
  type Span,
  unsupported,
} from '../../formats/formats.ts'
import { type Fields, isFields } from '../fields.ts'
import { isFiniteVector } from './digest.ts'
import { foreignJson, jsonKindOf } from './foreign-file.ts'
import { type PackageHead, type PackageMemory, packageLimits } from './format.ts'
import type { PackageSource, Visitor } from './source.ts'

/** The top-level lists, read record by record, and the most records of each. */
const lists = { memories: packageLimits.memories, adaptation_log: packageLimits.records } as const
const smallParts = ['persona', 'state', 'export_metadata'] as const

/** Opens a package of one JSON object, of any size. Throws a FileError for other files and broken small parts. */
export function openJsonPackage(path: string): PackageSource {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > packageLimits.bytes) throw damaged(`The package is larger than ${packageLimits.bytes} bytes`)
    const members = memberSpans(file, size)
    const foreign = foreignJson(members)
    if (foreign) throw foreign
    if (!members.has('export_metadata')) throw unsupported(`Invalid persona package: it is ${jsonKindOf(members)}`)
    const missing = [...smallParts, ...Object.keys(lists)].filter((name) => !members.has(name))
    if (missing.length > 0) throw damaged(`The package has no ${missing.join(', no ')}`)
    const head = readHead(file, members)
    return { form: 'document', head, ...walks(file, members), close: () => closeSync(file) }
  } catch (reason) {
    closeSync(file)
    throw reason
  }
}

function readHead(file: number, members: ReadonlyMap<string, Span>): PackageHead {
  const [persona, state, metadata] = smallParts.map((name) => {
    const value = readValue(file, members.get(name)!, packageLimits.part, name)
    if (!isFields(value)) throw damaged(`${name} is not an object`)
    return value
  }) as [Fields, Fields, Fields]
  const others = [...members].filter(
    ([name]) => !Object.hasOwn(lists, name) && !(smallParts as readonly string[]).includes(name),
  )
  const unknown = others.reduce((sum, [, { start, end }]) => sum + end - start, 0)
  if (unknown > packageLimits.unknown)
    throw damaged(
      `The package holds ${unknown} bytes of parts that are unknown here (${others
        .map(([name]) => name.slice(0, 40))
        .slice(0, 5)
        .join(', ')}); at most ${packageLimits.unknown} are kept`,
    )
  const extra = others.map(([name, span]) => [name, readValue(file, span, packageLimits.part, name)])
  return { persona, state, metadata, extra: Object.fromEntries(extra) }
}

function walks(file: number, members: ReadonlyMap<string, Span>): Pick<PackageSource, 'walk' | 'memories' | 'log'> {
  return {
    walk(visitor) {
      const hash = createHash('sha256')
      let expected: unknown
      // The checksum is over the canonical text, so the parts are read in its order.
      for (const [index, name] of [...members.keys()].sort().entries()) {
        hash.update(`${index === 0 ? '{' : ','}${canonicalize(name)}:`)
        const span = members.get(name)!
        if (Object.hasOwn(lists, name))
          walkList(file, span, name as keyof typeof lists, visitor, (text) => void hash.update(text))
        else {
          const value = readValue(file, span, packageLimits.part, name)
          const { checksum, ...rest } = name === 'export_metadata' ? (value as Fields) : {}
          if (name === 'export_metadata') expected = checksum
          hash.update(canonicalize(name === 'export_metadata' ? rest : value))
        }
      }
      hash.update('}')
      const actual = `sha256:${hash.digest('hex')}`
      return { expected: typeof expected === 'string' ? expected : undefined, actual, broken: [] }
    },
    *memories() {
      for (const bytes of items(file, members.get('memories')!, 'memories'))
        yield readMemory(parseStrictJsonBytes(bytes))
    },
    *log() {
      for (const bytes of items(file, members.get('adaptation_log')!, 'adaptation_log'))
        yield fieldsOf(parseStrictJsonBytes(bytes))
    },
  }
}

function walkList(
  file: number,
  span: Span,
  name: keyof typeof lists,
  visitor: Visitor,
  update: (piece: string | Uint8Array) => void,
): void {
  update('[')
  let index = 0
  for (const item of itemSpans(file, span, name)) {
    if (index >= lists[name]) throw damaged(`${name} has more than ${lists[name]} records`)
    try {
      const value = readValue(file, item, packageLimits.item, 'it')
      update((index > 0 ? ',' : '') + canonicalize(value))
      if (name === 'memories') visitor.memory(readMemory(value), index)
      else visitor.record(fieldsOf(value), index)
    } catch (reason) {
      visitor.unreadable(name, index, reason)
    }
    index++
  }
  update(']')
}

function* items(file: number, span: Span, name: string): Generator<Buffer> {
  for (const item of itemSpans(file, span, name)) yield readSpan(file, item, packageLimits.item, name)
}

function readValue(file: number, span: Span, most: number, what: string): unknown {
  return parseStrictJsonBytes(readSpan(file, span, most, what))
}

function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw damaged('it is not an object')
  return value
}

/** Parses a memory; its embedding is a list of numbers, absent or empty where there is none. */
function readMemory(value: unknown): PackageMemory {
  const { embedding, ...fields } = fieldsOf(value)
  if (embedding === undefined || embedding === null) return { fields }
  if (!Array.isArray(embedding) || !embedding.every((number) => typeof number === 'number'))
    throw damaged('its embedding is not a list of numbers')
  if (embedding.length > packageLimits.dimension)
    throw damaged(`its embedding has more than ${packageLimits.dimension} numbers`)
  if (embedding.length === 0) return { fields }
  const vector = Float32Array.from(embedding as readonly number[])
  if (!isFiniteVector(vector)) throw damaged('its embedding holds a number that is no 32-bit float')
  return { fields, vector }
}
