import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodPassword, type ServingDaemon, serveHere } from '../../helpers/program/daemon.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { type Ran, runMain } from '../../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'

/** A daemon with an administrator and a plugin of two models, and the commands of its machine. */
export interface Scene {
  readonly home: string
  readonly daemon: ServingDaemon
  readonly provider: StandIn
  readonly environment: Readonly<Record<string, string>>
  run(words: readonly string[], input?: string): Promise<Ran>
  /** Writes a file into an existing folder below the home folder. */
  write(name: string, text: string): string
}

/** Does something in a scene and takes it down. */
export async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn((request, response) => {
    const { stream, model } = JSON.parse(request.body) as { stream?: boolean; model: string }
    if (!stream) return json(response, 200, completion('hello', model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['hello'], model).join(''))
  })
  await using daemon = await serveHere({ CUSTOM_API_KEY: 'sk-test' })
  const { home } = daemon
  const environment = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-test', PATH: '' }
  const run = (words: readonly string[], input?: string) =>
    runMain(words, { environment, ...(input !== undefined && { input }) })
  const write = (name: string, text: string) => {
    writeFileSync(join(home, name), text)
    return join(home, name)
  }
  await run(['setup', '--local', '--username', 'ada', '--password-stdin'], goodPassword)
  await run(['config', 'set', 'api.port', new URL(daemon.url).port])
  const models = { 'custom-model': { context_window: 100_000, max_output: 8_000 } }
  const plugin = pluginAt(provider.url, { model_map: ['custom-model', 'other-model'], models })
  await run(['plugin', 'install', write('plugin.json', JSON.stringify(plugin)), '--activate'])
  await work({ home, daemon, provider, environment, run, write })
}
