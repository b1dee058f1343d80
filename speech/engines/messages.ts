import type { EngineCapabilities, SpeechRequest, VoiceSource, WordTime } from './engine.ts'

/** The methods of an engine's process. Voices stay in it; a key names each. */
export interface EngineMethods {
  /** Imports the engine's module, by its folder or address, and loads the engine. */
  readonly open: {
    readonly input: { readonly module: string; readonly options: Readonly<Record<string, unknown>> }
    readonly result: OpenedEngine
  }
  readonly prepare: { readonly input: { readonly key: string; readonly source: VoiceSource } }
  /** Drops a prepared voice. */
  readonly forget: { readonly input: string }
  readonly synthesize: {
    readonly input: {
      readonly key: string
      readonly request: Omit<SpeechRequest, 'voice' | 'onWords'>
      /** Whether word times are wanted among the samples. */
      readonly words: boolean
    }
    readonly item: Float32Array | readonly WordTime[]
  }
}

export interface OpenedEngine {
  readonly id: string
  readonly sampleRate: number
  readonly capabilities: EngineCapabilities
}
