import { type TokenCount, type TokenCounts, tokenBounds } from '../usage/metering/token-counts.ts'
import type { MetricSource } from './metric-source.ts'

/** Parts of a count by modality: what is not audio counts as text, as providers tell no more. */
type Part = readonly [modality: 'text' | 'audio', tokens: (count: TokenCount) => number]

const counters: readonly (readonly [name: string, help: string, parts: readonly Part[]])[] = [
  [
    'input_tokens',
    'Tokens of requests, those of caches included.',
    [
      ['text', ({ input, audioInput }) => input - audioInput],
      ['audio', ({ audioInput }) => audioInput],
    ],
  ],
  [
    'output_tokens',
    'Tokens of answers, reasoning included.',
    [
      ['text', ({ output, audioOutput }) => output - audioOutput],
      ['audio', ({ audioOutput }) => audioOutput],
    ],
  ],
  ['cache_read_input_tokens', 'Tokens of requests that caches gave.', [['text', ({ cached }) => cached]]],
  ['cache_write_input_tokens', 'Tokens of requests that caches took.', [['text', ({ cacheWrite }) => cacheWrite]]],
  ['reasoning_output_tokens', 'Tokens of answers that were reasoning.', [['text', ({ reasoning }) => reasoning]]],
]

/**
 * The tokens of models by the names of OpenTelemetry's conventions for generative AI, as Prometheus writes them
 * (https://github.com/open-telemetry/semantic-conventions-genai). No key and no user is named.
 */
export function tokenMetrics(counts: TokenCounts): readonly MetricSource[] {
  return [
    ...counters.map(
      ([name, help, parts]): MetricSource => ({
        type: 'counter',
        name: `gen_ai_client_inference_usage_${name}_total`,
        help,
        values: () =>
          counts.list().flatMap((count) =>
            parts
              .map(([gen_ai_token_modality, tokens]) => ({
                labels: { ...labelsOf(count), gen_ai_token_modality },
                value: tokens(count),
              }))
              .filter(({ labels, value }) => value > 0 || labels.gen_ai_token_modality === 'text'),
          ),
      }),
    ),
    histogram('input_tokens', 'Tokens of a request.', ({ inputs, input }) => [inputs, input], counts),
    histogram('output_tokens', 'Tokens of an answer.', ({ outputs, output }) => [outputs, output], counts),
  ]
}

function histogram(
  what: string,
  help: string,
  read: (count: TokenCount) => readonly [counts: readonly number[], sum: number],
  counts: TokenCounts,
): MetricSource {
  const name = `gen_ai_client_inference_operation_${what}`
  return {
    type: 'histogram',
    name,
    help,
    values: () =>
      counts.list().flatMap((each) => {
        const labels = labelsOf(each)
        const [filled, sum] = read(each)
        let count = 0
        const buckets = [...tokenBounds, '+Inf'].map((le, at) => {
          count += filled[at]!
          return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
        })
        return [
          ...buckets,
          { labels, value: sum, metricName: `${name}_sum` },
          { labels, value: count, metricName: `${name}_count` },
        ]
      }),
  }
}

function labelsOf({ provider, model }: TokenCount) {
  return { gen_ai_provider_name: provider, gen_ai_request_model: model }
}
