import type { App } from '../app/app.ts'
import { type ChatCount, type PlaceRow, providerName } from '../chat/chat.ts'
import { type Histogram, type MetricSource, type MetricValue, modelSecondBounds } from '../metrics/metrics.ts'

/** The chats of a service, the targets that they were sent to, and how fast these answered. */
export function chatMetrics({ chats, health }: Pick<App, 'chats' | 'health'>): readonly MetricSource[] {
  return [
    {
      type: 'counter',
      name: 'aichat_chats_total',
      help: 'Chats by outcome, and by the plugin and model that answered, or else were asked first.',
      values: () =>
        chats.list().flatMap(({ plugin, model, value }) =>
          Object.entries(value.outcomes)
            .filter(([, count]) => count > 0)
            .map(([outcome, count]) => ({ labels: { plugin, model, outcome }, value: count })),
        ),
    },
    {
      type: 'counter',
      name: 'aichat_chat_attempts_total',
      help: 'Attempts of chats at plugins and the local runner.',
      values: () =>
        health.counts().map(({ target, outcome, failureClass, count }) => ({
          labels: { target, outcome, class: failureClass },
          value: count,
        })),
    },
    {
      type: 'counter',
      name: 'aichat_chat_fallbacks_total',
      help: 'Chats that another target answered than the first one asked.',
      values: () => chats.fallbacks().map(({ from, to, count }) => ({ labels: { from, to }, value: count })),
    },
    {
      type: 'gauge',
      name: 'aichat_circuits',
      // Each worker has its own: a model that rests for several of them is one.
      together: 'max',
      help: 'Models of a plugin that rest after failures (open), are tried again (half-open), or failed a few times (closed).',
      values: () => circuitValues(health.circuits(), chats),
    },
    seconds('duration', 'From a request to a provider to the end of its answer.', ({ durations }) => durations, chats),
    seconds(
      'time_to_first_chunk',
      'From a request to a provider to the first content of its streamed answer.',
      ({ firstContents }) => firstContents,
      chats,
    ),
  ]
}

/** A duration by the names of OpenTelemetry's conventions (semantic-conventions-genai, docs/gen-ai/client-inference.md). */
function seconds(what: string, help: string, read: (count: ChatCount) => Histogram, chats: App['chats']): MetricSource {
  const labelsOf = ({ plugin, model }: PlaceRow<ChatCount>) => ({
    gen_ai_operation_name: 'chat',
    gen_ai_provider_name: providerName(plugin),
    gen_ai_request_model: model,
  })
  return {
    type: 'histogram',
    name: `gen_ai_client_inference_${what}_seconds`,
    help,
    bounds: modelSecondBounds,
    values: () =>
      chats
        .list()
        .filter(({ value }) => read(value).count > 0)
        .map((row) => ({ labels: labelsOf(row), histogram: read(row.value) })),
  }
}

/** How many circuits are in each state, by labels: models without a row of their own are counted together. */
function circuitValues(circuits: ReturnType<App['health']['circuits']>, chats: App['chats']): readonly MetricValue[] {
  const sums = new Map<string, { labels: Record<string, string>; value: number }>()
  for (const { plugin, runner, model, state } of circuits) {
    const labels = { target: plugin ?? `local:${runner}`, model: chats.labelOf({ plugin, model }, false), state }
    const key = Object.values(labels).join(' ')
    const sum = sums.get(key) ?? { labels, value: 0 }
    sum.value++
    sums.set(key, sum)
  }
  return [...sums.values()]
}
