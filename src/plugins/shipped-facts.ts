import { factsIn, type ModelFacts } from './model-facts.ts'
import { isPattern, longestName, patternOf } from './model-names.ts'

/** The shipped table, which test/plugins/ship-facts.ts writes from the providers' lists and from a package of prices. */
export interface ShippedFacts {
  readonly format: 'aichat-models/1'
  /** Where the facts of each host are from, and of which day. */
  readonly sources: Readonly<Record<string, string>>
  /** By the host of the endpoint, and the name of the model there in small letters, or a pattern of names. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, ModelFacts>>>>
}

/** Finds the shipped facts of a model at an endpoint: by its name, else by the pattern with the most letters that match. */
export function shippedAt({ hosts }: ShippedFacts, endpoint: string, model: string): ModelFacts {
  const host = URL.canParse(endpoint) ? new URL(endpoint).host : ''
  const models = Object.hasOwn(hosts, host) ? hosts[host]! : {}
  const name = model.toLowerCase().slice(0, longestName)
  if (Object.hasOwn(models, name)) return factsIn(models[name])
  const matching = Object.keys(models)
    .filter(isPattern)
    .map((pattern) => ({ pattern, ...patternOf(pattern) }))
    .filter(({ matches }) => matches(name))
    .sort((one, other) => other.weight - one.weight)
  return matching[0] ? factsIn(models[matching[0].pattern]) : {}
}
