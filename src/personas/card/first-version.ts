/** Whether an object with these field names is a character card of version 1: a flat one of texts, without a `spec`. */
export function isFirstVersion(names: { has(name: string): boolean }): boolean {
  return ['name', 'description', 'personality', 'first_mes'].every((name) => names.has(name)) && !names.has('spec')
}
