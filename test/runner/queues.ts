/**
 * Deals test files, the longest first, to so many workers that each has whole rooms (`server`, `cli`, …): files of a room share
 * modules, which are loaded and compiled once in a process.
 */
export function dealRooms(
  files: readonly string[],
  secondsOf: (file: string) => number,
  workers: number,
): readonly string[][] {
  const rooms = new Map<string, string[]>()
  for (const file of files) {
    const room = file.split(/[\\/]/)[0]!
    rooms.set(room, [...(rooms.get(room) ?? []), file])
  }
  const seconds = (files: readonly string[]) => files.reduce((sum, file) => sum + secondsOf(file), 0)
  const queues = Array.from({ length: workers }, () => ({ files: [] as string[], seconds: 0 }))
  for (const room of [...rooms.values()].sort((one, other) => seconds(other) - seconds(one))) {
    const lightest = queues.reduce((one, other) => (other.seconds < one.seconds ? other : one))
    lightest.files.push(...room)
    lightest.seconds += seconds(room)
  }
  return queues.map(({ files }) => files.sort((one, other) => secondsOf(other) - secondsOf(one)))
}

/** Takes the next file from the worker's own queue, and else from that which has the most left; undefined where none has. */
export function nextOf(queues: readonly string[][], own: number): string | undefined {
  const fullest = queues.reduce((one, other) => (other.length > one.length ? other : one))
  return queues[own]!.shift() ?? fullest.shift()
}
