// With --all only: many processes: forty turns of a week.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openClock } from '../bench/memory-parts/companion-daemon.ts'
import { judge, readScenes, type Scene, timeOf, today } from '../bench/memory-parts/scenes.ts'
import { callApi } from '../helpers/program/daemon.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a week with a companion')

/** What became of each turn, to be read by a person. */
const log = fileURLToPath(new URL('../../week.log', import.meta.url))

interface Week {
  readonly turns: readonly { readonly at: string; readonly said: string; readonly keep: string | null }[]
  readonly questions: readonly Scene[]
}

interface Memory {
  readonly id: string
  readonly content: string
  readonly kind?: string
  readonly metadata: Readonly<Record<string, unknown>>
}

test('its turns over the command line and HTTP become memories, profile and ends, which answer on Monday', async () => {
  const { turns, questions } = readScenes<Week>('week')
  await using provider = await openStandIn((request, response) => {
    if (!JSON.parse(request.body).stream) return json(response, 200, completion('I see.'))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['I ', 'see.']).join(''))
  })
  using clock = openClock()
  clock.set(timeOf(turns[0]!.at))
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-of-the-test' })
  await installation.app.plugins.install(pluginAt(provider.url, { model_map: ['m'] }))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const rest = callApi(url)
  const environment = { AICHAT_HOME: installation.home, HOME: installation.home, CUSTOM_API_KEY: 'sk-of-the-test' }
  const made = await rest('POST', '/api/personas', {
    body: { name: 'Nora', model: 'm', memory_settings: { enabled: true } },
  })
  const path = `/api/personas/${made.body.id}`

  const ways = {
    async cli(said: string, day: string) {
      const ran = await runMain(['chat', '-p', 'Nora', '--session', day, said], { environment })
      assert.is(ran.code, 0, ran.stderr)
    },
    async http(said: string, day: string) {
      const messages = [{ role: 'user', content: said }]
      const { status, body } = await rest('POST', '/api/chat', { body: { persona: 'Nora', session: day, messages } })
      assert.is(status, 200, JSON.stringify(body))
    },
  }
  const memories = async (): Promise<readonly Memory[]> =>
    (await rest('GET', `${path}/memory?limit=1000`)).body.memories
  const profile = async (): Promise<readonly { readonly slot: string; readonly text: string }[]> =>
    (await rest('GET', `${path}/profile`)).body.lines

  const lines: string[] = []
  const seen = {
    memories: new Map<string, unknown>(),
    profile: new Set<string>(),
    day: '',
    way: 'http' as 'cli' | 'http',
  }
  for (const { at, said } of turns) {
    clock.set(timeOf(at))
    const day = at.slice(0, 10)
    if (day !== seen.day) {
      seen.day = day
      seen.way = seen.way === 'cli' ? 'http' : 'cli'
      await rest('POST', '/api/sessions', { body: { name: day, persona: 'Nora' } })
      lines.push('', `# ${day}, over ${seen.way === 'cli' ? 'the command line' : 'HTTP'}`)
    }
    await ways[seen.way](said, day)
    lines.push(`${at.slice(11)} ${said}`)
    for (const { id, content, kind, metadata } of await memories()) {
      const end = metadata['valid_to']
      if (!seen.memories.has(id)) lines.push(`      ${kind ?? 'memory'}: ${content}`)
      else if (end !== undefined && seen.memories.get(id) === undefined) lines.push(`      ended: ${content}`)
      seen.memories.set(id, end)
    }
    for (const { slot, text } of await profile())
      if (!seen.profile.has(text)) lines.push(`      profile (${seen.profile.add(text) && slot}): ${text}`)
  }
  clock.set(today)
  lines.push('', '# The Monday after')
  await rest('POST', '/api/sessions', { body: { name: 'Monday', persona: 'Nora' } })
  let answered = 0
  for (const scene of questions) {
    await ways.http(scene.ask, 'Monday')
    const sent = JSON.parse(provider.received.at(-1)!.body).messages as { content: string }[]
    const prompt = sent.flatMap(({ content }) => content.split('\n')).filter((line) => line !== scene.ask)
    const { isFirst } = judge(prompt, scene)
    if (isFirst) answered++
    lines.push(`${isFirst ? 'answered' : 'MISSED  '} ${scene.ask}`, ...prompt.filter((line) => line.startsWith('- [')))
  }
  const { body: evicted } = await rest('GET', `${path}/memory/evictions`)
  lines.push('', `# Evicted: ${JSON.stringify(evicted)}`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, `${lines.join('\n').trim()}\n`)

  const stored = (await memories()).filter(({ metadata }) => metadata['source'] === 'chat')
  const worth = turns.flatMap(({ keep }) => keep ?? [])
  const kept = worth.filter((words) => stored.some(({ content }) => content.includes(words)))
  assert.ok(kept.length >= 22, `${kept.length} of ${worth.length} kept: ${log}`)
  assert.ok(answered >= 8, `${answered} of ${questions.length} answered: ${log}`)
  assert.ok((await profile()).length >= 3, `the profile: ${log}`)
})

test.run()
