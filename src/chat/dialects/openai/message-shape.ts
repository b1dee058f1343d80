import { isObject, type JsonObject } from '../../protocol/json-object.ts'

/** The fields of a message or delta that converters look at, and what each may hold; null means "nothing" in all of them. */
const shapes: readonly (readonly [name: string, fits: (value: unknown) => boolean])[] = [
  ['content', (value) => typeof value === 'string' || Array.isArray(value)],
  ['refusal', (value) => typeof value === 'string'],
  ['reasoning_content', (value) => typeof value === 'string'],
  ['reasoning_details', (value) => Array.isArray(value) && value.every(isDetail)],
  ['tool_calls', (value) => Array.isArray(value)],
  ['extra_content', (value) => isObject(value) && Object.values(value).every(isObject)],
]

/** The thing itself where its fields are as they should be, else a copy without those that are not. */
export function withFittingFields(thing: JsonObject): JsonObject {
  let copy: Record<string, unknown> | undefined
  for (const [name, fits] of shapes) {
    const value = thing[name]
    if (value === undefined || value === null || fits(value)) continue
    copy ??= { ...thing }
    delete copy[name]
  }
  return copy ?? thing
}

const detailFields = ['type', 'text', 'signature', 'data', 'format', 'summary']

function isDetail(value: unknown): boolean {
  return isObject(value) && detailFields.every((name) => value[name] == null || typeof value[name] === 'string')
}
