/** A count with its noun: `1 memory`, `2 memories`. The plural has an s, unless it is given. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** A wait in whole seconds as a person reads it, rounded up: `40 seconds`, `15 minutes`, `3 hours`. */
export function waitText(seconds: number): string {
  if (seconds < 60) return counted(seconds, 'second')
  if (seconds <= 5400) return counted(Math.ceil(seconds / 60), 'minute')
  return counted(Math.ceil(seconds / 3600), 'hour')
}
