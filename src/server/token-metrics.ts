import { providerName } from '../chat/chat.ts'
import type { Histogram, MetricSource } from '../metrics/metrics.ts'
import { type TokenCount, type TokenCounts, tokenBounds } from '../usage/usage.ts'

/** Parts of a count by modality: all but audio counts as text, since providers tell no more. */
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
    histogram('input_tokens', 'Tokens of a request.', ({ inputs }) => inputs, counts),
    histogram('output_tokens', 'Tokens of an answer.', ({ outputs }) => outputs, counts),
  ]
}

function histogram(
  what: string,
  help: string,
  read: (count: TokenCount) => Histogram,
  counts: TokenCounts,
): MetricSource {
  return {
    type: 'histogram',
    name: `gen_ai_client_inference_operation_${what}`,
    help,
    bounds: tokenBounds,
    values: () => counts.list().map((each) => ({ labels: labelsOf(each), histogram: read(each) })),
  }
}

function labelsOf({ provider, model }: TokenCount) {
  return { gen_ai_provider_name: providerName(provider), gen_ai_request_model: model }
}
