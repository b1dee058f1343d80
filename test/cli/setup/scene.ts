import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../../src/app/package-folder.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import {
  type Answer,
  completion,
  completionEvents,
  json,
  localRunner,
  openStandIn,
  type StandIn,
} from '../../helpers/providers/fake-provider.ts'

/** A key that the fake provider takes, shaped as OpenAI's. */
export const goodKey = 'sk-proj-canary-good-0123456789'

/** An empty home, and a provider, a server or an Ollama on loopback. */
export interface Scene extends AsyncDisposable {
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  readonly provider: StandIn
  /** The text of a file of the home; empty where there is none. */
  read(name: string): string
}

/** The models that the fake provider lists, each with its window. */
const listed = [
  { id: 'gpt-4.1-mini', context_window: 1_047_576 },
  { id: 'gpt-4.1', context_window: 1_047_576 },
  { id: 'gpt-4o', context_window: 128_000 },
]

/** Answers as a server that speaks OpenAI's API; with a key it refuses every other. */
export function speaksOpenAi(key?: string, models: readonly object[] = listed): Answer {
  return ({ url, headers, body }, response) => {
    if (key !== undefined && headers.authorization !== `Bearer ${key}`)
      return json(response, 401, { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } })
    if (url === '/v1/models') return json(response, 200, { data: models })
    if (url !== '/v1/chat/completions') return json(response, 404, { error: { message: 'not found' } })
    const { model, stream, messages } = JSON.parse(body)
    const text = `${model} heard: ${messages.at(-1).content}`
    if (!stream) return json(response, 200, completion(text, model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents([text], model).join(''))
  }
}

/** Opens an empty home whose OpenAI is at loopback; there is no bus, so that there is no keychain. */
export async function openScene(answer: Answer = speaksOpenAi(goodKey)): Promise<Scene> {
  const provider = await openStandIn(answer)
  const home = temporaryFolder()
  const bundled = readFileSync(join(packageFolder('plugins'), 'openai.json'), 'utf8')
  mkdirSync(join(home, 'plugins'))
  writeFileSync(join(home, 'plugins', 'openai.json'), bundled.replaceAll('https://api.openai.com', provider.url))
  return {
    home,
    environment: {
      AICHAT_HOME: home,
      HOME: home,
      OLLAMA_HOST: '127.0.0.1:9',
      PLUGIN_KEY_HOSTS: `OPENAI_API_KEY=${provider.host}`,
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
    },
    provider,
    read(name) {
      try {
        return readFileSync(join(home, name), 'utf8')
      } catch {
        return ''
      }
    },
    async [Symbol.asyncDispose]() {
      await provider.close()
    },
  }
}

/** Answers as an Ollama without a model, which has those that it is told to pull. */
export function emptyOllama(): Answer {
  const models: string[] = []
  return (request, response) => {
    if (request.url === '/api/tags') return json(response, 200, { models: models.map((name) => ({ name, size: 123 })) })
    if (request.url !== '/api/pull') return localRunner('local answer', models[0])(request, response)
    const { model } = JSON.parse(request.body)
    if (model === 'missing') return json(response, 200, { error: 'pull model manifest: file does not exist' })
    models.push(model)
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const line of [
      { status: 'pulling manifest' },
      { status: 'pulling', total: 10, completed: 5 },
      { status: 'success' },
    ])
      response.write(`${JSON.stringify(line)}\n`)
    response.end()
  }
}
