import { performance } from 'node:perf_hooks'
import {
  type ChatCounts,
  type Circuits,
  createAttempts,
  createKeyPools,
  createReasoningSeals,
  createRouter,
  dialectFor,
  type Health,
  hostOf,
  httpTarget,
  isCloudName,
  isLoopback,
  type Metering,
  notHere,
  type Target,
} from '../chat/chat.ts'
import { openHttpClient } from '../http-client/http-client.ts'
import { defaultChatModel } from '../model-hub/model-hub.ts'
import type { FactBook, Keys, PluginHost, PluginManifest } from '../plugins/plugins.ts'
import { createOllamaRunner, type OllamaRunner, type OnnxRunner } from '../runners/runners.ts'
import type { Settings } from '../settings/settings.ts'
import { installationSecrets } from './accounts.ts'
import type { Waits } from './waits.ts'

/** Everything a chat needs; loaded at the first chat, since the HTTP client costs a list command more than its own work. */
export type Chat = ReturnType<typeof openChat>

export interface ChatParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly facts: FactBook
  readonly keys: Keys
  readonly health: Health
  readonly counts: ChatCounts
  readonly circuits: Circuits
  /** Ports of this machine where this process serves the API. */
  readonly ownPorts: Set<number>
  /** The id of the installation, where several instances could ask each other. */
  readonly hop: string | undefined
  /** The models that run on this machine. */
  readonly embedded: OnnxRunner
  readonly metering: Metering
  readonly waits: Waits
}

/** The part of the composition root that chats. */
export function openChat(parts: ChatParts) {
  const { settings, plugins, facts, keys, health, counts, circuits, ownPorts, hop, embedded, metering, waits } = parts
  const now = () => performance.now()
  /** Seals the reasoning that clients keep for their providers. */
  const reasoning = createReasoningSeals(() => installationSecrets(settings))
  const client = openHttpClient({ allowPrivate: settings.pluginAllowPrivate, ownPorts, hop })
  // The operator's own setting names the local runner, so its address may always be private.
  const local = settings.pluginAllowPrivate ? client : openHttpClient({ allowPrivate: true, hop })
  const ollama = createOllamaRunner({
    url: settings.ollamaHost,
    preferred: settings.localModel,
    send: local.send,
    dialect: dialectFor('ollama', settings.ollamaHost),
    openReasoning: (user, model) => reasoning.openFor(user, { plugin: null, runner: 'ollama', model }),
    learned: (model) => facts.learned('local:ollama', model),
    now,
  })
  const pools = createKeyPools({ versionOf: keys.versionOf, now })
  const targets = new WeakMap<PluginManifest, Map<string, ReturnType<typeof httpTarget>>>()
  const router = createRouter({
    find: (id) => plugins.find(id),
    plugins: () => plugins.list().filter(chats),
    active: () => plugins.active('chat'),
    target(manifest, model) {
      // A plugin that is read again is another object: old targets go with it.
      const known = targets.get(manifest) ?? new Map<string, ReturnType<typeof httpTarget>>()
      targets.set(manifest, known)
      const target =
        known.get(model) ??
        httpTarget({
          manifest,
          model,
          runner: null,
          facts: () => facts.of(manifest, model),
          dialect: dialectFor(manifest.api, manifest.endpoint),
          send: client.send,
          keyHeader: (url, key) => keys.headerFor(manifest, url, key),
          keys: () => pools.of(manifest.id, keys.poolOf(manifest)),
          refusedAdvice: (key) => keys.refusedAdvice(manifest, key),
          openReasoning: (user) => reasoning.openFor(user, { plugin: manifest.id, runner: null, model }),
        })
      if (known.size < 1000) known.set(model, target)
      return target
    },
    async local(model, localOnly) {
      if (localOnly && !isLoopback(ollama.url)) return embedded.target(model)
      if (localOnly && model !== undefined) await refuseForwarded(ollama, model)
      // A pulled model that is asked for by its name answers, even beside another runner.
      const names = model !== undefined && embedded.models().includes(model) ? await ollama.models() : undefined
      const pulled = names?.every(({ name }) => name !== model && name !== `${model}:latest`)
      return (pulled ? undefined : await ollama.target(model, localOnly)) ?? embedded.target(model)
    },
    elsewhere: (target) => elsewhere(target, ollama),
    localOnly: settings.localOnly,
    advice: (failed, localOnly = false) =>
      localOnly
        ? localAdvice(settings, failed, embedded.models())
        : advice(settings, plugins, failed, embedded.models()),
    learn: ({ plugin, runner, model }, tokens) => facts.learn(plugin ?? `local:${runner}`, model, tokens),
    attempts: createAttempts({
      circuits,
      now,
      clock: Date.now,
      random: Math.random,
      redact: keys.redact,
      firstWait: waits.retry,
    }),
    now,
    metering,
    counts,
    observe: health.observe,
  })
  return {
    router,
    reasoning,
    ollama,
    embedded,
    send: client.send,
    async close() {
      await client.close()
      if (local !== client) await local.close()
    },
  }
}

/** Throws `unavailable` for a model that the local runner forwards to a remote service. */
async function refuseForwarded(ollama: OllamaRunner, model: string): Promise<void> {
  const reason = await forwarding(ollama, model)
  if (reason !== undefined) throw notHere(model, reason)
}

/** The reason why a target is not on this machine; undefined where it is. Asks the local runner at most. */
async function elsewhere({ endpoint, model }: Target, ollama: OllamaRunner): Promise<string | undefined> {
  if (endpoint === undefined) return undefined
  if (!isLoopback(endpoint)) return `its host ${hostOf(endpoint)} is another machine`
  if (!isLoopback(ollama.url) || hostOf(endpoint) !== hostOf(ollama.url))
    return isCloudName(model) ? `${model} is a model of Ollama's cloud` : undefined
  return forwarding(ollama, model)
}

/** The reason why a model of the local runner does not compute on this machine; undefined where it does. */
async function forwarding(ollama: OllamaRunner, model: string): Promise<string | undefined> {
  const known = (await ollama.models())?.find(({ name }) => name === model || name === `${model}:latest`)
  if (!(known ? known.remote : isCloudName(model))) return undefined
  const host = known?.row['remote_host']
  return `Ollama forwards ${model} to ${typeof host === 'string' ? hostOf(host) : 'its cloud'}`
}

/** Next steps for a user with chats that must stay on this machine. */
function localAdvice(
  { ollamaHost }: Settings,
  failed: ReadonlySet<string>,
  pulled: readonly string[],
): readonly string[] {
  const runner = isLoopback(ollamaHost)
    ? failed.has('ollama')
      ? []
      : [`Start Ollama with a model (expected at ${ollamaHost})`]
    : [`The local runner was not tried: OLLAMA_HOST is ${hostOf(ollamaHost)}, another machine`]
  return [...runner, ...(pulled.length > 0 ? [] : [`Pull a small model: aichat models pull ${defaultChatModel}`])]
}

/** Next steps after a chat without an answer: names no plugin or runner that failed, and no key that is set. */
function advice(
  settings: Settings,
  plugins: PluginHost,
  failed: ReadonlySet<string>,
  pulled: readonly string[],
): readonly string[] {
  const left = plugins.list().filter((plugin) => chats(plugin) && !failed.has(plugin.id))
  const active = left.find((plugin) => plugin.active && plugin.state === 'ready')
  const others = left.filter((plugin) => !plugin.active)
  const ready = others.find(({ state }) => state === 'ready')
  const closed = others.find(({ id, state }) => state === 'key_missing' && id === 'openai') ?? others.find(isClosed)
  const provider = ready
    ? [`activate a plugin whose key is set: aichat plugin activate ${ready.id}`]
    : closed
      ? [
          `use a provider, by its key or its address: aichat setup, or set ${closed.auth.key_env} and run aichat plugin activate ${closed.id}`,
        ]
      : []
  const lines = [
    ...(active ? [`ask ${active.id}, which is active and ready: name a model of it, or none`] : []),
    ...provider,
    ...(pulled.length > 0
      ? []
      : [`pull a small model that runs on this machine: aichat models pull ${defaultChatModel}`]),
    ...(failed.has('ollama')
      ? []
      : [`start a local runner: Ollama with a model, expected at ${settings.ollamaHost} (OLLAMA_HOST)`]),
  ]
  return lines.map((line, at) => (at === 0 ? `${line.charAt(0).toUpperCase()}${line.slice(1)}` : `or ${line}`))
}

function chats({ type }: Pick<PluginManifest, 'type'>): boolean {
  return type === 'chat' || type === 'completion'
}

function isClosed({ state }: { readonly state: string }): boolean {
  return state === 'key_missing'
}
