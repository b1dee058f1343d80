import { setFlagsFromString } from 'node:v8'

/** The optimisation that V8 calls pretenuring: a flag of V8, which NODE_OPTIONS does not take. */
const pretenuring = 'allocation-site-pretenuring'

/**
 * Has V8 make all new objects of this process among the young ones. It learns from the objects that survive a collection
 * which literals of the program make long-lived objects, and has compiled code make those in old space from then on. A
 * service with many requests under way teaches it wrong: many objects of a request survive the one collection that falls
 * into it, such as the headers of its response, so that those of each later request lie in old space until a full
 * collection. To be called before requests teach it; a flag that the operator gave to node is left as it is.
 */
export function keepNewObjectsYoung(given: readonly string[] = process.execArgv, set = setFlagsFromString): void {
  const names = given.map((flag) => flag.replaceAll('_', '-'))
  if (!names.some((name) => name.endsWith(`-${pretenuring}`))) set(`--no-${pretenuring}`)
}
