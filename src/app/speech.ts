import { createSpeechRouter, openSpeechService, type SpeechCounts, type SpeechService } from '../../speech/speech.ts'
import { openHttpClient } from '../http-client/http-client.ts'
import type { Keys, PluginHost } from '../plugins/plugins.ts'
import type { Settings } from '../settings/settings.ts'
import { speechPlaces } from './speech-places.ts'

export interface SpeechAreaParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly keys: Keys
  /** The id of the installation, where several instances could ask each other. */
  readonly hop: string | undefined
  readonly counts: SpeechCounts
}

/** The part of the composition root that speaks; an engine starts with the first text for it. */
export function openSpeech({ settings, plugins, keys, hop, counts }: SpeechAreaParts) {
  const client = openHttpClient({ allowPrivate: settings.pluginAllowPrivate, hop })
  const services = new Map<string, SpeechService>()
  const router = createSpeechRouter({
    plugins: () => plugins.list().filter(({ type }) => type === 'tts'),
    active: () => plugins.active('tts'),
    keyHeader: keys.headerFor,
    refusedAdvice: keys.refusedAdvice,
    redact: keys.redact,
    send: client.send,
    open(server, variant) {
      const key = `${server} ${variant ?? ''}`
      const service =
        services.get(key) ??
        openSpeechService({ ...speechPlaces(settings), server, variant, orLike: true, counts: counts.of(server) })
      services.set(key, service)
      return service
    },
  })
  return {
    router,
    async close() {
      await client.close()
      await Promise.all([...services.values()].map((service) => service.close()))
    },
  }
}
