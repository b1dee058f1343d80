import { z } from 'zod'

/**
 * A record of at most `most` names, counted before any of its values is parsed: zod does so for lists with `.max()`, and has
 * no such bound for records. A check that is chained to it makes a copy that counts no more. OpenAPI shows `maxProperties`.
 */
export function boundedRecord<K extends z.core.$ZodRecordKey, V extends z.ZodType>(
  key: K,
  value: V,
  most: number,
): z.ZodRecord<K, V> {
  const schema = z.record(key, value).meta({ maxProperties: most })
  const parse = schema._zod.parse
  schema._zod.parse = (payload, context) => {
    const { value } = payload as { readonly value: unknown }
    if (typeof value !== 'object' || value === null || Object.keys(value).length <= most) return parse(payload, context)
    payload.issues.push({
      code: 'custom',
      message: `must have at most ${most} names`,
      input: value,
      inst: schema,
    })
    return payload
  }
  schema._zod.run = schema._zod.parse
  return schema
}
