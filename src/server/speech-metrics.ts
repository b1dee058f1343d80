import type { SpeechCount, SpeechCounts } from '../../speech/speech-counts.ts'
import { type Histogram, secondBounds } from '../telemetry/histogram.ts'
import type { MetricSource } from '../telemetry/metric-source.ts'

/** The speech that this process makes: on the ports of the speech servers, and for the API. */
export function speechMetrics(counts: SpeechCounts): readonly MetricSource[] {
  return [
    number('gauge', 'aichat_speech_requests', 'Texts being spoken or waiting for it.', ({ inside }) => inside),
    number('gauge', 'aichat_speech_waiting', 'Chunks and voices that wait for the engine.', ({ waiting }) => waiting),
    number('counter', 'aichat_speech_refused_total', 'Requests refused for a full queue.', ({ refused }) => refused),
    {
      type: 'counter',
      name: 'aichat_speech_chunks_total',
      help: 'Chunks of texts by whether they were spoken or skipped.',
      values: () =>
        counts.list().flatMap(([server, { spoken, skipped }]) => [
          { labels: { server, outcome: 'spoken' }, value: spoken },
          { labels: { server, outcome: 'skipped' }, value: skipped },
        ]),
    },
    number(
      'counter',
      'aichat_speech_rerolls_total',
      'Chunks spoken again, since their length was far from the expected one.',
      ({ rerolls }) => rerolls,
    ),
    times('aichat_speech_queue_seconds', 'From the request of a chunk or voice to its turn.', ({ waits }) => waits),
    times('aichat_speech_chunk_seconds', 'The time of the engine for a chunk.', ({ chunks }) => chunks),
  ]

  function number(
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    read: (count: SpeechCount) => number,
  ): MetricSource {
    return {
      type,
      name,
      help,
      values: () => counts.list().map(([server, count]) => ({ labels: { server }, value: read(count) })),
    }
  }

  function times(name: string, help: string, read: (count: SpeechCount) => Histogram): MetricSource {
    return {
      type: 'histogram',
      name,
      help,
      unit: 's',
      bounds: secondBounds,
      values: () => counts.list().map(([server, count]) => ({ labels: { server }, histogram: read(count) })),
    }
  }
}
