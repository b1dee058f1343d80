import { looksLikeKey } from '../plugins/plugins.ts'

/** A plugin's model, or one of this machine (`plugin` null). */
interface Place {
  readonly plugin: string | null
  readonly model: string
}

/** A row of a table, with the names for labels. */
export interface PlaceRow<T> {
  /** The plugin's id, or `local`. */
  readonly plugin: string
  /** The model, or `other` for all that have no row of their own. */
  readonly model: string
  readonly value: T
}

/** Listed models that stand apart, and others: without a bound each name would cost memory for good. */
const mostListed = 1_000
const mostOthers = 200

/** Characters: the longest name of a model that providers list has 80. */
const longestName = 128

/**
 * A table of rows by plugin and model: a bounded number, though a caller may name any model. They begin with `make`. `isListed` tells whether a plugin lists a model, and is asked until the
 * model has a row.
 */
export function createPlaceTable<T>(make: () => T, isListed: (place: Place) => boolean) {
  const plugins = new Map<string | null, Map<string, PlaceRow<T>>>()
  let listed = 0
  let others = 0
  const add = (rows: Map<string, PlaceRow<T>>, plugin: string | null, model: string) => {
    const row = { plugin: plugin ?? 'local', model, value: make() }
    rows.set(model, row)
    return row
  }
  return {
    /** The row of a place: a listed model's own; while few, one for any other that answered, unless it may be a key. */
    of(place: Place, hasAnswered: boolean): PlaceRow<T> {
      const { plugin, model } = place
      let rows = plugins.get(plugin)
      if (!rows) {
        rows = new Map()
        plugins.set(plugin, rows)
      }
      const found = rows.get(model)
      if (found) return found
      if (listed < mostListed && isListed(place)) {
        listed++
        return add(rows, plugin, model)
      }
      if (hasAnswered && others < mostOthers && model.length <= longestName && !looksLikeKey(model)) {
        others++
        return add(rows, plugin, model)
      }
      return rows.get('other') ?? add(rows, plugin, 'other')
    },
    rows: (): readonly PlaceRow<T>[] => [...plugins.values()].flatMap((rows) => [...rows.values()]),
  }
}
