import type { AdaptationStore } from '../../personas/adaptation/adaptations.ts'
import type { Context } from './context.ts'

/** Logs of adaptation in PostgreSQL. */
export function createAdaptationStore(_context: Context): AdaptationStore {
  throw new Error('Not written yet')
}
