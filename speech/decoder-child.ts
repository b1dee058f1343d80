/** The process in which an engine's codec decodes beside the language model. */
import { loadFromFile, serveDecoder } from './blocks/frame-decoder.ts'
import type { CheckedPlan, DecoderSource } from './engines/neural/decoder.ts'

/** The decoders by the folders of their engines. */
const sources: Readonly<Record<string, () => Promise<DecoderSource<never, unknown>>>> = {
  'kyutai-tts': async () => (await import('./engines/kyutai-tts/codec.ts')).decoderSource,
  'pocket-tts': async () => (await import('./engines/pocket-tts/decoder.ts')).decoderSource,
  'qwen3-tts': async () => (await import('./engines/qwen3-tts/decoder.ts')).decoderSource,
}

serveDecoder(async (plan: CheckedPlan) => {
  const { openFile, load } = await sources[plan.engine]!()
  const file = await openFile(plan as never)
  return loadFromFile(file, plan.identity, () => load(file, plan as never))
})
