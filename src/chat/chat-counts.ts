import { Histogram, modelSecondBounds } from '../metrics/metrics.ts'
import type { MeteredPlace } from './metering.ts'
import { createPlaceTable } from './place-table.ts'

/** The way a chat ended: `broken` after its first content, `cancelled` by its caller. */
export type ChatOutcome = 'answered' | 'failed' | 'broken' | 'cancelled'

/** The chats at one plugin's model since this process began. */
export interface ChatCount {
  /** By the place that answered, else by the first that was asked. */
  readonly outcomes: Readonly<Record<ChatOutcome, number>>
  /** Seconds from a request to the end of its answer. */
  readonly durations: Histogram
  /** Seconds from a request to the first content of a streamed answer. */
  readonly firstContents: Histogram
}

/** The chats that another target answered than the first one. */
export interface FallbackCount {
  readonly from: string
  readonly to: string
  readonly count: number
}

/** Counts chats for the metrics of a service. */
export type ChatCounts = ReturnType<typeof createChatCounts>

/** Plugins come and go: so many pairs of them are counted. */
const mostFallbacks = 1_000

type Counting = ChatCount & { readonly outcomes: Record<ChatOutcome, number> }

/** Counts by plugin and model; `isListed` as in `createPlaceTable`. */
export function createChatCounts(isListed: (place: MeteredPlace) => boolean) {
  const table = createPlaceTable<Counting>(
    () => ({
      outcomes: { answered: 0, failed: 0, broken: 0, cancelled: 0 },
      durations: new Histogram(modelSecondBounds),
      firstContents: new Histogram(modelSecondBounds),
    }),
    isListed,
  )
  const fallbacks = new Map<string, { from: string; to: string; count: number }>()
  return {
    ended(place: MeteredPlace, outcome: ChatOutcome) {
      table.of(place, outcome === 'answered').value.outcomes[outcome]++
    },
    /** Counts a whole answer, after so many seconds. */
    answered: (place: MeteredPlace, seconds: number) => table.of(place, true).value.durations.add(seconds),
    /** Counts the first content of a stream, after so many seconds. */
    begun: (place: MeteredPlace, seconds: number) => table.of(place, true).value.firstContents.add(seconds),
    fellBack({ plugin }: MeteredPlace, { plugin: other }: MeteredPlace) {
      const from = plugin ?? 'local'
      const to = other ?? 'local'
      const known = fallbacks.get(`${from} ${to}`)
      if (known) known.count++
      else if (fallbacks.size < mostFallbacks) fallbacks.set(`${from} ${to}`, { from, to, count: 1 })
    },
    list: () => table.rows(),
    fallbacks: (): readonly FallbackCount[] => [...fallbacks.values()],
    /** The model as a label: `other` where it has no row of its own. */
    labelOf: (place: MeteredPlace, hasAnswered: boolean) => table.of(place, hasAnswered).model,
  }
}
