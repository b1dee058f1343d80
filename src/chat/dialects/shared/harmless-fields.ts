import { readFileSync } from 'node:fs'

type Fields = Readonly<Record<string, string>>

/** Fields that may be left out unnamed, by shape and dialect, each with the reason why no answer changes by it. */
type HarmlessFields = Readonly<Record<'ours' | 'anthropic' | 'ollama' | 'responses', Fields>>

let known: HarmlessFields | undefined

/** Reads the list beside this file at the first call: most requests have no such field. */
export function harmlessFields(): HarmlessFields {
  known ??= JSON.parse(
    readFileSync(new URL('./src/chat/dialects/shared/harmless-fields.json', import.meta.resolve('#package')), 'utf8'),
  ) as HarmlessFields
  return known
}

/** Whether a field of such a shape may be left out without a word. */
export function isHarmless(shape: keyof HarmlessFields, field: string): boolean {
  return Object.hasOwn(harmlessFields()[shape], field)
}
