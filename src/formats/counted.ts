/** A count with its noun: `1 memory`, `2 memories`. The plural has an s, unless it is given. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
