import type { z } from 'zod'

/** How a text is filled. */
export type Filling = 'plain' | 'marks' | 'han' | 'escapes'

/** A character to repeat, with its bytes of UTF-8 or escapes. */
const units: Readonly<Record<Filling, string>> = {
  plain: 'word ',
  // Combining marks alone: text in which no word begins.
  marks: '\u0301\u0489',
  han: '漢字',
  escapes: '\n\t',
}

interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly options?: readonly z.ZodType[]
  readonly element?: z.ZodType
  readonly keyType?: z.ZodType
  readonly valueType?: z.ZodType
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly out?: z.ZodType
  readonly entries?: Readonly<Record<string, unknown>>
  readonly values?: readonly unknown[]
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly maximum?: number } }
  }[]
}

/**
 * The largest input that a schema lets pass, of about as many bytes: every list as long and every text as large as it may
 * be, the bytes being shared out among them.
 */
export function largest(schema: z.ZodType, bytes: number, filling: Filling, limit = 20_000): unknown {
  const definition = schema._zod.def as unknown as Definition
  const most = definition.checks?.find(({ _zod }) => _zod.def.check === 'max_length')?._zod.def.maximum
  switch (definition.type) {
    case 'string':
      return filled(Math.min(bytes, most ?? bytes), filling)
    case 'number':
    case 'int':
      return 1
    case 'boolean':
      return false
    case 'null':
      return null
    case 'enum':
      return Object.values(definition.entries!)[0]
    case 'literal':
      return definition.values![0]
    case 'array': {
      const count = Math.min(most ?? 100, Math.max(1, Math.floor(limit / 4)))
      return Array.from({ length: count }, () => largest(definition.element!, bytes / count, filling, limit / count))
    }
    case 'record':
      return Object.fromEntries(
        Array.from({ length: Math.min(64, limit) }, (_, index) => [
          `name${index}`,
          largest(definition.valueType!, bytes / 64, filling, limit / 64),
        ]),
      )
    case 'object': {
      const fields = Object.entries(definition.shape!)
      return Object.fromEntries(
        fields.map(([name, inner]) => [name, largest(inner, bytes / fields.length, filling, limit / fields.length)]),
      )
    }
    case 'union':
      return largest(definition.options!.find(isText) ?? definition.options![0]!, bytes, filling, limit)
    case 'pipe':
      return largest(
        (definition.in!._zod.def as { type: string }).type === 'transform' ? definition.out! : definition.in!,
        bytes,
        filling,
        limit,
      )
    case 'unknown':
      return filled(bytes, filling)
    default:
      return definition.innerType ? largest(definition.innerType, bytes, filling, limit) : null
  }
}

function isText(schema: z.ZodType): boolean {
  return schema._zod.def.type === 'string'
}

function filled(bytes: number, filling: Filling): string {
  const unit = units[filling]
  return unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(JSON.stringify(unit).slice(1, -1)))))
}
