import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import type { App } from '../../../src/app/compose.ts'
import { closing } from '../disposal.ts'
import { eventually } from '../eventually.ts'
import { type Answer, openStandIn, type StandIn } from '../providers/fake-provider.ts'
import { openInstallation, pluginAt } from './installation.ts'

/** The client libraries of OpenAI, Anthropic, Ollama and Vercel against our API, with a fake provider behind it. */
export interface ClientLibraries {
  readonly openai: OpenAI
  readonly anthropic: Anthropic
  readonly ollama: Ollama
  /** Vercel's: `ai.chat(id)` speaks chat completions. */
  readonly ai: OpenAIProvider
  readonly provider: StandIn
  readonly app: App
  readonly url: string
}

export interface ClientParts {
  /** More fields of the plugin that is active. */
  readonly plugin?: Record<string, unknown>
  /** How often the libraries repeat by themselves; without it as often as they do by default. */
  readonly maxRetries?: number
  readonly environment?: Record<string, string>
}

/** The endpoints of a plugin in each of the dialects, below the fake provider's address. */
export const endpoints = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'anthropic-messages': '/v1/messages',
  gemini: '/v1beta/models/{model}:generateContent',
  ollama: '/api/chat',
} as const

export type DialectId = keyof typeof endpoints

/** Does something with the libraries while the provider answers so, and closes everything. */
export async function withLibraries(
  answer: Answer,
  run: (parts: ClientLibraries) => Promise<void>,
  parts: ClientParts = {},
): Promise<void> {
  await using libraries = await openLibraries(answer, parts)
  await run(libraries)
}

/** Opens the libraries with a provider that answers so, for tests that share them. */
export async function openLibraries(
  answer: Answer,
  { plugin = {}, maxRetries, environment = {} }: ClientParts = {},
): Promise<ClientLibraries & { close(): Promise<void> } & AsyncDisposable> {
  const provider = await openStandIn(answer)
  const installation = openInstallation({ CUSTOM_API_KEY: 'sk-test-123456', ...environment })
  const close = async () => {
    await installation.close()
    await provider.close()
  }
  try {
    const { app } = installation
    const api = (plugin['api'] ?? 'openai-chat') as DialectId
    await app.plugins.install(
      pluginAt(provider.url, { endpoint: `${provider.url}${endpoints[api]}`, retry: { attempts: 1 }, ...plugin }),
    )
    await app.plugins.activate('custom')
    const url = await installation.serve()
    const retries = maxRetries === undefined ? {} : { maxRetries }
    return closing({
      openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'ours', ...retries }),
      anthropic: new Anthropic({ baseURL: url, apiKey: 'ours', ...retries }),
      ollama: new Ollama({ host: `${url}/ollama`, headers: { authorization: 'Bearer ours' } }),
      ai: createOpenAI({ baseURL: `${url}/v1`, apiKey: 'ours' }),
      provider,
      app,
      url,
      close,
    })
  } catch (reason) {
    await close()
    throw reason
  }
}

/** The error of a call; throws when the call succeeds. */
export async function failureOf(call: () => Promise<unknown>): Promise<Record<string, unknown> & Error> {
  try {
    await call()
  } catch (reason) {
    return reason as Record<string, unknown> & Error
  }
  throw new Error('the call did not fail')
}

/** An answer of server-sent events, each a JSON value or a text as it is. */
export function eventStream(events: readonly unknown[]): Answer {
  return streamOf(eventsText(events))
}

/** The same with the names that Anthropic's events have. */
export function namedStream(events: readonly NamedEvent[]): Answer {
  return streamOf(namedText(events))
}

export type NamedEvent = { readonly type: string; readonly [field: string]: unknown }

export function eventsText(events: readonly unknown[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
}

export function namedText(events: readonly NamedEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function streamOf(text: string): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(text)
  }
}

/** A response in the background, once it has ended. */
export function ended(openai: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
  return eventually(async () => {
    const response = await openai.responses.retrieve(id)
    return response.status === 'queued' || response.status === 'in_progress' ? undefined : response
  })
}
