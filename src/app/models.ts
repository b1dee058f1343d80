import { readWireError } from '../chat/chat.ts'
import type { HttpClient, HttpClientOptions } from '../http-client/http-client.ts'
import { knownModels, openHub } from '../model-hub/model-hub.ts'
import {
  createKeys,
  createListing,
  createModelLists,
  type Keys,
  type ListingParts,
  type PluginHost,
  type PluginManifest,
  type PluginStore,
  type SecretSource,
  withListedModels,
} from '../plugins/plugins.ts'
import { createOnnxRunner, createPulledEmbedder, embeddingForms } from '../runners/runners.ts'
import { readSecret, type Settings } from '../settings/settings.ts'

/** The providers' model lists, and the models on this machine. */
export type Models = ReturnType<typeof openModels>

export interface ModelsParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly store: PluginStore
  readonly keys: Keys
  readonly ownPorts: ReadonlySet<number>
  /** The id of the installation, where several instances could ask each other. */
  readonly hop: string | undefined
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/** A provider answers its list within seconds; one that is silent for longer is not waited for. Milliseconds. */
const listTimeouts = { connect: 10_000, firstByte: 30_000, idle: 20_000 }
const listTotal = 60_000

/** The part of the composition root that deals with models. Nothing is asked, started or read before it is needed. */
export function openModels({ settings, plugins, store, keys, ownPorts, hop, now }: ModelsParts) {
  const opened: Promise<HttpClient>[] = []
  const providers = lazySend({ allowPrivate: settings.pluginAllowPrivate, ownPorts, hop })
  // The public hub never redirects to a private address; a mirror that the operator chose may lie on one.
  const files = lazySend({ allowPrivate: !isPublicHub(settings.hubEndpoint), longestBody: Number.MAX_SAFE_INTEGER })
  const hub = openHub({
    modelsFolder: settings.modelsFolder,
    known: knownModels,
    endpoint: settings.hubEndpoint,
    token: readSecret('HF_TOKEN', settings.environment)?.value,
    send: files,
  })
  /** Answers chats with pulled models. */
  const embedded = createOnnxRunner({
    installed: () => hub.installed('chat'),
    preferred: settings.localModel,
    clock: Date.now,
  })
  /** The embedding models that may be pulled, the best first. */
  const pulledEmbedders = [...embeddingForms].map(([name, form]) =>
    createPulledEmbedder({ name, form, installed: () => hub.find(name) }),
  )
  const listingWith = (keys: ListingParts['keys']) =>
    createListing({
      host: plugins,
      keys,
      send: providers,
      readError: readWireError,
      timeouts: listTimeouts,
      totalMs: listTotal,
      now,
    })
  const listing = listingWith(keys)
  return {
    /**
     * A plugin document with the list that its provider gives for this key, or for the stored one; nothing is stored.
     * Throws as `fetchRows`, and `protocol` for a list without a chat model.
     */
    async tried(manifest: PluginManifest, key: string | undefined, signal?: AbortSignal): Promise<PluginManifest> {
      const trial = key === undefined ? listing : listingWith(singleKey(manifest, key, () => plugins.keyRules()))
      return withListedModels(manifest, await trial.rows(manifest, signal), Date.now())
    },
    lists: createModelLists({ listing, host: plugins, store, clock: Date.now }),
    listing,
    hub,
    embedded,
    pulledEmbedders,
    async close() {
      await Promise.all([
        embedded.close(),
        ...pulledEmbedders.map((each) => each.close()),
        ...opened.map(async (outbound) => (await outbound).close()),
      ])
    },
  }

  /** The HTTP client is loaded with the first request. */
  function lazySend(options: HttpClientOptions): HttpClient['send'] {
    let outbound: Promise<HttpClient> | undefined
    return async (request) => {
      if (!outbound) {
        outbound = import('../http-client/agent.ts').then(({ openHttpClient }) => openHttpClient(options))
        opened.push(outbound)
      }
      return (await outbound).send(request)
    }
  }
}

/** A key that is not stored, under the rules of stored ones: it goes to its provider's hosts alone. */
function singleKey(
  { auth, name }: PluginManifest,
  key: string,
  rules: () => ReturnType<PluginHost['keyRules']>,
): ListingParts['keys'] {
  const source: SecretSource = { has: (asked) => asked === auth.key_env, get: () => key, origin: () => 'file' }
  return { ...createKeys([source], rules), refusedAdvice: () => `Check at ${name} that the key is valid` }
}

function isPublicHub(endpoint: string): boolean {
  return URL.canParse(endpoint) && new URL(endpoint).hostname === 'huggingface.co'
}
