import { once } from '../../process/process.ts'

type Methods = Readonly<Record<string, (...given: unknown[]) => unknown>>

/**
 * A store that loads its module and prepares its statements with the first call of one of its methods, so that a
 * command loads the stores alone that it asks. Its methods fail with AppErrors; a failed load is tried again by the
 * next call. A method that is synchronous may be so from the second call on. Its methods cannot be listed: a store that
 * answers otherwise in parts is made by `Object.create`, or by setting these methods.
 */
export function atFirstUse<S extends object>(load: () => Promise<S>): S {
  let store: Methods | undefined
  const loaded = once(async () => {
    store = (await load()) as Methods
    return store
  })
  const methodOf = (target: object, name: string | symbol) => {
    if (Object.hasOwn(target, name)) return Reflect.get(target, name) as unknown
    // A promise that resolves with a store looks for its `then`.
    if (typeof name === 'symbol' || name === 'then') return undefined
    return (...given: unknown[]) =>
      store ? store[name]!(...given) : loaded().then((methods) => methods[name]!(...given))
  }
  return new Proxy({}, { get: methodOf }) as S
}
