/**
 * Characters of all texts in a part of a request, names of fields left out. Base64 and `data:` URLs of pictures and files are
 * not counted, by the same rule as in token-estimate.ts. Costs time by the number of values, not by their length.
 */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + textLength(item), 0)
  const fields = value as Readonly<Record<string, unknown>>
  let sum = 0
  for (const name in fields) if (!isBytes(name, fields)) sum += textLength(fields[name])
  return sum
}

/** Whether a field holds the bytes of a picture or file. The data of Anthropic's documents of type `text` is text. */
function isBytes(name: string, fields: Readonly<Record<string, unknown>>): boolean {
  const { type, [name]: value } = fields
  if (typeof value !== 'string') return false
  if (name === 'data') return type !== 'text'
  return name === 'file_data' || ((name === 'url' || name === 'image_url') && value.startsWith('data:'))
}
