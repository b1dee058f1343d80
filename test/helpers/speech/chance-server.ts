import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findVariant, readManifest } from '../../../speech/servers/manifest.ts'
import type { SpeechService } from '../../../speech/service.ts'
import { createSynthesis, type RequestedVoice } from '../../../speech/synthesis.ts'
import { createSpeechServer } from '../../../src/server/speech.ts'
import { openInstallation } from '../program/installation.ts'
import { type ChanceOptions, createChanceEngine } from './chance-engine.ts'

/** A speech server on loopback with an engine that chooses at random. */
export async function openChanceServer(options: ChanceOptions = {}) {
  const installation = openInstallation()
  const manifest = readManifest('voxb-tts')
  const engine = createChanceEngine(options)
  const synthesis = createSynthesis({
    manifest,
    engine,
    fetchVoice: () => Promise.reject(new Error('nobody may ask the hub')),
  })
  const service: SpeechService = {
    manifest,
    variant: findVariant(manifest, undefined),
    pid: undefined,
    health: () => ({ status: 'healthy', model_loaded: true, engine: 'chance', model: 'voxb-tts', device: 'cpu' }),
    load: async () => {},
    speak: ({ voice, ...request }, signal) => synthesis.open({ ...request, voice: voice as RequestedVoice }, signal),
    close: () => engine.close(),
  }
  const http = createHttpServer(createSpeechServer({ app: installation.app, observe: () => {} }, service))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async close() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
      await installation.close()
    },
  }
}
