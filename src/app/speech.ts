import { createSpeechRouter, type SpeechRouter } from '../../speech/router.ts'
import { openSpeechService, type SpeechService } from '../../speech/service.ts'
import type { SpeechCounts } from '../../speech/speech-counts.ts'
import { openHttpClient } from '../http-client/agent.ts'
import type { PluginHost } from '../plugins/host.ts'
import type { Keys } from '../plugins/keys.ts'
import type { Settings } from '../settings/read-settings.ts'
import { speechPlaces } from './speech-places.ts'

export interface SpeechAreaParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly keys: Keys
  /** The id of the installation, where several instances could ask each other. */
  readonly hop: string | undefined
  readonly counts: SpeechCounts
}

/** The speech router, and how its engines and connections are closed. */
export interface SpeechArea {
  readonly router: SpeechRouter
  close(): Promise<void>
}

/** The part of the composition root that speaks; an engine starts with the first text for it. */
export function openSpeech({ settings, plugins, keys, hop, counts }: SpeechAreaParts): SpeechArea {
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
