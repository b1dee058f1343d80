import type { SpeechEngine } from '../../speech/engines/engine.ts'
import { AppError } from '../../src/errors.ts'

/** Samples per second of this engine; small, so that tests can count. */
export const faultyRate = 8000

/**
 * An engine with faults that the text names: `crash` ends its process, `hang` blocks it as native code does, `fail`
 * throws, `wait` waits for a cancellation. Anything else is spoken as 100 samples per character, in two pieces.
 */
export function createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine {
  if (options['unusable']) throw new AppError('unavailable', 'The weights are missing', { details: ['fetch them'] })
  if (options['tellEnvironment'])
    throw new AppError('unavailable', 'These variables are seen', { details: Object.keys(process.env) })
  return {
    id: 'faulty',
    sampleRate: faultyRate,
    capabilities: { languages: ['English'] },
    async load() {},
    async prepareVoice(source) {
      if (source.kind === 'preset' && source.voice === 'serena') throw new AppError('not_found', 'No such voice here')
      return { key: source.kind }
    },
    async *synthesize({ text }, signal) {
      if (text.includes('crash')) process.kill(process.pid, 'SIGKILL')
      if (text.includes('hang')) for (;;);
      if (text.includes('fail')) throw new Error('out of luck')
      if (text.includes('wait')) {
        yield new Float32Array(10)
        await cancelled(signal)
      }
      yield new Float32Array(text.length * 50).fill(0.5)
      yield new Float32Array(text.length * 50).fill(0.25)
    },
    async close() {},
  }
}

function cancelled(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason))
  })
}
