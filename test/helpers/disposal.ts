/** The value, which is closed at the end of the block that declares it by `await using`. */
export function closing<T extends { close(): unknown }>(value: T): T & AsyncDisposable {
  return Object.assign(value, { [Symbol.asyncDispose]: async () => void (await value.close()) })
}
