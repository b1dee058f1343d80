import { once } from '../../process/under-way.ts'

/** The names of a store's methods, all of them. */
export type Methods<S> = Readonly<Record<keyof S, true>>

type Method = (...given: unknown[]) => unknown

/**
 * A store that loads its module and prepares its statements with the first call of one of its methods, so that a
 * command loads the stores alone that it asks. Its methods fail with AppErrors; a failed load is tried again by the
 * next call. A method that is synchronous may be so from the second call on.
 */
export function atFirstUse<S extends object>(methods: Methods<S>, load: () => Promise<S>): S {
  let store: Record<string, Method> | undefined
  const loaded = once(async () => {
    store = (await load()) as Record<string, Method>
  })
  const methodOf =
    (name: string): Method =>
    async (...given) => {
      await loaded()
      return store![name]!(...given)
    }
  return Object.fromEntries(
    Object.keys(methods).map((name) => {
      const first = methodOf(name)
      return [name, ((...given) => (store ? store[name]!(...given) : first(...given))) satisfies Method]
    }),
  ) as unknown as S
}
