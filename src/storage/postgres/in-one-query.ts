/** Reads single rows by their ids: all that are asked for in one turn of the event loop take one query. */
export function inOneQuery<Row>(
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Row>>,
): (id: string) => Promise<Row | undefined> {
  let ids = new Set<string>()
  let reading: Promise<ReadonlyMap<string, Row>> | undefined
  return async (id) => {
    ids.add(id)
    reading ??= Promise.resolve().then(() => {
      const asked = [...ids]
      ids = new Set()
      reading = undefined
      return read(asked)
    })
    return (await reading).get(id)
  }
}
