/** The process of one engine, so that a crash or hang of native code ends this process and nothing else. */
import { serveParent } from '../src/process/process.ts'
import type { EngineMethods } from './engine-process.ts'
import type { EngineModule, SpeechEngine, VoiceHandle, WordTime } from './engines/engine.ts'

let engine: SpeechEngine | undefined
const voices = new Map<string, VoiceHandle>()

const engines: Readonly<Record<string, () => Promise<EngineModule>>> = {
  flite: () => import('./engines/flite/engine.ts'),
  'kyutai-tts': () => import('./engines/kyutai-tts/engine.ts'),
  'qwen3-tts': () => import('./engines/qwen3-tts/engine.ts'),
  'pocket-tts': () => import('./engines/pocket-tts/engine.ts'),
}

serveParent<EngineMethods>(
  {
    async open({ module, options }) {
      const load = engines[module] ?? (() => import(module) as Promise<EngineModule>)
      const created = await (await load()).createEngine(options)
      await created.load()
      engine = created
      const { id, sampleRate, capabilities } = created
      return { id, sampleRate, capabilities }
    },
    async prepare({ key, source }, { signal }) {
      voices.set(key, await opened().prepareVoice(source, signal))
    },
    forget(key) {
      voices.delete(key)
    },
    async synthesize({ key, request, words }, { signal, emit }) {
      const voice = voices.get(key)
      if (!voice) throw new Error('the voice was not prepared')
      const unsent: WordTime[] = []
      const onWords = words ? (more: readonly WordTime[]) => void unsent.push(...more) : undefined
      for await (const samples of opened().synthesize({ ...request, voice, onWords }, signal)) {
        if (unsent.length > 0) await emit(unsent.splice(0))
        await emit(samples)
      }
      if (unsent.length > 0) await emit(unsent)
    },
  },
  () => engine?.close(),
)

function opened(): SpeechEngine {
  if (!engine) throw new Error('the engine is not open')
  return engine
}
