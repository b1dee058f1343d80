import type { Passthrough } from '../../personas/package/archive.ts'

/** The first greeting of a persona's character card as JSON, beside the fields that it stands in; null for none. */
export function greetingOf(passthrough: Passthrough): string | null {
  const card = passthrough.card as { readonly data?: { readonly first_mes?: unknown } | null } | undefined
  const greeting = card?.data?.first_mes
  return greeting == null ? null : JSON.stringify(greeting)
}
