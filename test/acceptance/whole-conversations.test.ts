// Some with --all only: a whole sample.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import type { PluginManifest } from '../../src/plugins/manifest.ts'
import { callApi } from '../helpers/program/daemon.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { openTerminalHere, runMain } from '../helpers/program/terminal.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { speaking } from '../helpers/speech/speaking-model.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('a document of 200 kB and three questions')

const bundled = packageFolder('plugins')
const providers = readdirSync(bundled)
  .map((file): PluginManifest => JSON.parse(readFileSync(join(bundled, file), 'utf8')))
  .filter(({ type }) => type === 'completion')
  // In the first tier one of each dialect.
  .filter(({ api }, at, all) => isWholeRun || all.findIndex((other) => other.api === api) === at)

/** Lines that differ, so that no part of it stands for another. */
const document = Array.from(
  { length: 4_000 },
  (_, at) => `Lamp ${at}: sold in Bern, ${at * 7919} watts, lit by hand`,
).join('\n')
const inJson = JSON.stringify(document).slice(1, -1)
const questions = ['What is it about?', 'Which lamp is first?', 'And again?']

for (const [place, { id, endpoint, api = 'openai-chat', default_model, auth, ...others }] of providers.entries())
  test(`${id}: the document is in each request, however the conversation is held`, async () => {
    await using provider = await openStandIn(
      speaking(api, ({ messages }) => ({ content: `Answer ${messages.length}.` })),
    )
    const environment = { CUSTOM_API_KEY: 'sk-of-the-test' }
    await using installation = openInstallation(environment)
    const { app, home } = installation
    const call = callApi(await installation.serve())
    const model = `${id}:${default_model}`
    const { context_window } = (await call('GET', `/api/models/show?model=${model}`)).body
    assert.ok(context_window >= 100_000, `the window of ${model}: ${context_window}`)
    const { pathname } = new URL(endpoint)
    const at = `${provider.url}${decodeURIComponent(pathname)}`
    await app.plugins.update(id, {
      ...others,
      id,
      api,
      default_model,
      auth: { header: auth.header, prefix: auth.prefix, key_env: 'CUSTOM_API_KEY' },
      endpoint: at,
      models: { [default_model!]: { context_window } },
    })
    await call('POST', '/api/personas', { body: { name: 'Mia', model, memory_settings: { enabled: true } } })
    await call('POST', '/api/sessions', { body: { name: 'Over HTTP' } })
    const file = join(home, 'lamps.txt')
    writeFileSync(file, document)
    const command = async (...words: string[]) => {
      const { code, stderr } = await runMain(['chat', '-m', model, ...words], {
        environment: { AICHAT_HOME: home, HOME: home, ...environment },
      })
      assert.is(code, 0, stderr)
    }
    const post = async (path: string, body: object) => {
      const answer = await call('POST', path, { body: { model, ...body } })
      assert.is(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    const withDocument = (question: string, turn: number) => (turn === 0 ? `${document}\n\n${question}` : question)
    const attached = (turn: number) => (turn === 0 ? ['-f', file] : [])
    let previous: string | undefined
    const ways: Readonly<Record<string, (question: string, turn: number) => Promise<unknown>>> = {
      plain: (question, turn) => command(...(turn === 0 ? attached(turn) : ['--continue']), question),
      'as a persona': (question, turn) =>
        command('-p', 'Mia', ...(turn === 0 ? attached(turn) : ['--continue']), question),
      'in a named session': (question, turn) => command('-s', 'Lamps', ...attached(turn), question),
      'over HTTP': (question, turn) =>
        post('/api/chat', {
          session: 'Over HTTP',
          messages: [{ role: 'user', content: withDocument(question, turn) }],
        }),
      'over the Responses API': async (question, turn) => {
        const before = previous === undefined ? {} : { previous_response_id: previous }
        previous = (await post('/v1/responses', { ...before, input: withDocument(question, turn) })).id
      },
    }
    const check = (way: string) => {
      const sent = provider.received.splice(0).map(({ body }) => body)
      assert.equal(
        sent.map((body) => [body.includes(inJson), questions.filter((text) => body.includes(text)).length]),
        [
          [true, 1],
          [true, 2],
          [true, 3],
        ],
        way,
      )
    }
    // Each provider in two of the ways by turns, or in all of them.
    const isTaken = (at: number) => isWholeRun || (at - place) % 3 === 0
    for (const [at, [way, ask]] of Object.entries(ways).entries()) {
      if (!isTaken(at)) continue
      for (const [turn, question] of questions.entries()) await ask(question, turn)
      check(way)
    }
    const terminal = openTerminalHere(['chat', '-m', model], {
      AICHAT_HOME: home,
      HOME: home,
      ...environment,
    })
    await terminal.shows(/> $/)
    terminal.type(`/file ${file}\r`)
    await terminal.shows(/1 file with the next question/)
    for (const [turn, question] of questions.entries()) {
      await terminal.shows(/> $/)
      terminal.type(`${question}\r`)
      await terminal.shows(new RegExp(`Answer ${2 * turn + 1}\\.`))
    }
    terminal.type('\x04')
    assert.is((await terminal.ended()).code, 0)
    check('at a terminal')
  })

test.run()
