import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { App } from '../../../src/app/compose.ts'
import { interrupted } from '../../../src/cli/terminal/io.ts'
import { until } from '../../helpers/eventually.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { type Ran, runMain } from '../../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat chat keeps what was said')

test('each question is kept under its words, and -c goes on with the last one, from a pipe too', () =>
  scene(async ({ run, names, asked }) => {
    const first = await run(['chat', 'Where does the train leave?'])
    assert.equal([first.code, first.stdout, first.stderr], [0, '1: Where does the train leave?\n', ''])
    const next = await run(['-c', 'and in French?'])
    assert.equal(
      [next.stdout, next.stderr],
      ['3: and in French?\n', 'aichat: continuing "Where does the train leave?"\n'],
    )
    assert.is((await run(['-cS', '-q'], 'piped\n')).stdout, '5: piped\n')
    assert.is((await run(['chat', '-c', '-m', 'other-model', 'once more'])).stdout, '7: once more\n')
    assert.is(asked().model, 'other-model')
    assert.is((await run(['chat'], 'piped question\nand its text')).code, 0)
    assert.equal(await names(), ['piped question', 'Where does the train leave?'])
    const { stdout } = await run(['chat', '--json', 'hi'])
    assert.is(JSON.parse(stdout).aichat.session.name, 'hi')
  }))

test('nothing is kept with --no-log, chat.keep=off or CI, unless -s names a session; nor of a dry run or a failure', () =>
  scene(async ({ run, names }) => {
    for (const [words, environment] of [
      [['chat', '--no-log', 'one'], {}],
      [['--no-log', 'one two'], {}],
      [['chat', 'one'], { AICHAT_CHAT_KEEP: 'off' }],
      [['chat', 'one'], { CI: 'true' }],
      [['chat', '--dry-run', 'one'], {}],
    ] as const)
      assert.is((await run(words, undefined, environment)).code, 0, words.join(' '))
    assert.not((await run(['chat', 'FAIL'])).code === 0)
    assert.not((await run(['chat', 'BREAK'])).code === 0)
    assert.equal(await names(), [])
    assert.is((await run(['chat', '-s', 'Trip', 'one'], undefined, { CI: '1', AICHAT_CHAT_KEEP: '0' })).code, 0)
    assert.equal(await names(), ['Trip'])
    for (const more of [['-s', 'Trip'], ['-c']]) assert.is((await run(['chat', '--no-log', ...more, 'two'])).code, 64)
    assert.is((await run(['config', 'set', 'chat.keep', 'off'])).code, 0)
    await run(['chat', 'one'])
    assert.equal(await names(), ['Trip'])
    assert.is((await run(['chat', 'one'], undefined, { AICHAT_CHAT_KEEP: 'perhaps' })).code, 78)
  }))

test('Ctrl-C keeps the answer so far, marked as cut, and the next model is told so', () =>
  scene(async ({ run, names, asked, stopAfter }) => {
    const stopped = await stopAfter(/WA/, ['chat', 'please WAIT'])
    assert.is(stopped.code, 130)
    assert.equal(await names(), ['WAIT'])
    const shown = await run(['session', 'show', 'WAIT'])
    assert.match(shown.stdout, /1: please WA\n\n\*custom-model · custom · .* · cut\*\n$/)
    await run(['chat', '-c', 'go on'])
    assert.equal(asked().texts, ['please WAIT', '1: please WA\n\n[The answer was cut off here.]', 'go on'])
    await stopAfter(/WA/, ['chat', '-s', 'Trip', 'please WAIT'])
    await stopAfter(/WA/, ['chat', '--no-log', 'please WAIT'])
    assert.equal(await names(), ['Trip', 'WAIT'])
  }))

test('Ctrl-C before the first word keeps the question alone, here and over --server', () =>
  scene(async ({ run, url, names, asked, stopAfter }) => {
    for (const [at, flags] of [[], ['-S'], ['--json'], ['--server', url], ['--server', url, '-S']].entries()) {
      const stopped = await stopAfter('asked', ['chat', ...flags, `SILENT ${at}`])
      assert.equal([stopped.code, stopped.stdout], [130, ''], flags.join(' '))
    }
    await until(async () => (await names()).length === 5)
    assert.equal([...(await names())].sort(), ['SILENT 0', 'SILENT 1', 'SILENT 2', 'SILENT 3', 'SILENT 4'])
    const shown = await run(['session', 'show', 'SILENT 0'])
    assert.match(shown.stdout, /SILENT 0/)
    await stopAfter('asked', ['chat', '--no-log', 'SILENT unkept'])
    await stopAfter('asked', ['chat', '-s', 'SILENT 1', 'SILENT too'])
    await run(['chat', '-s', 'SILENT 1', 'go on'])
    const none = '[This question was not answered.]'
    assert.equal(asked().texts, ['SILENT 1', none, 'SILENT too', none, 'go on'])
  }))

test('over --server it is kept at the daemon; removed meanwhile, a session is exit 67', () =>
  scene(async ({ run, url, names, during }) => {
    const far = await run(['chat', '--server', url, 'far away'])
    assert.is(far.code, 0, far.stderr)
    assert.equal(await names(), ['far away'])
    for (const flags of [[], ['-S'], ['--json'], ['--server', url]]) {
      during(async () => {
        await run(['session', 'remove', 'Trip', '--yes'])
      })
      const gone = await run(['chat', '-s', 'Trip', ...flags, 'hello'])
      assert.is(gone.code, 67, gone.stderr)
      assert.match(gone.stderr, 'Session "Trip" not found: it was removed meanwhile')
      assert.match(gone.stdout, 'hello')
      assert.equal(await names(), ['far away'])
    }
  }))

test('what the owner said before there were users is found by the administrator, and by no other user', () =>
  scene(async ({ run }) => {
    await run(['chat', 'The early train'])
    await run(['setup', '--username', 'ada', '--password-stdin'], 'Passw0rd')
    await run(['users', 'create', 'bob', '--password-stdin'], 'Passw0rd')
    await run(['chat', 'The late train'])
    await run(['--as', 'bob', 'chat', 'His train'])
    const found = async (...as: string[]) => {
      const { hits } = JSON.parse((await run([...as, 'session', 'search', 'train', '--json'])).stdout)
      return hits.map(({ snippet }: { snippet: string }) => snippet)
    }
    assert.equal(await found(), ['1: The late train', 'The late train', '1: The early train', 'The early train'])
    assert.equal(await found('--as', 'bob'), ['1: His train', 'His train'])
    assert.is((await run(['users', 'remove', 'bob', '--yes'])).code, 0)
    await run(['users', 'create', 'bob', '--password-stdin'], 'Passw0rd')
    assert.equal(await found('--as', 'bob'), [])
  }))

test('session search, undo and remove do what they say', () =>
  scene(async ({ run, names }) => {
    await run(['chat', '-s', 'Trip', 'The night train'])
    const folded = await run(['chat', '-f', fileURLToPath(import.meta.resolve('#package')), 'What is this?'])
    assert.is(folded.code, 0, folded.stderr)
    const screen = (await run(['session', 'show', 'What is this?'], undefined, {}, true)).stdout
    assert.match(screen, /> <file path="[^"]*package\.json"> … <\/file>\nWhat is this\?/)
    assert.match(screen, /files: \S*package\.json/)
    assert.match((await run(['session', 'export', 'What is this?'])).stdout, /"name": "aichat-toolkit"/)
    await run(['session', 'remove', 'What is this?', '--yes'])
    await run(['chat', 'A day train'])
    const found = await run(['session', 'search', 'train'])
    assert.match(
      found.stdout,
      /^A day train {2}(?:today|yesterday) \d+:\d\d {2}user\n {2}A day train\nTrip {2}.* {2}user\n {2}The night train\n$/,
    )
    assert.match(
      (await run(['session', 'search', 'night train', '--plain'])).stdout,
      /^\S+\tTrip\t\S+T\S+\tassistant\t1: /,
    )
    const { hits, more } = JSON.parse((await run(['session', 'search', 'train', '-n', '1', '--json'])).stdout)
    assert.equal([hits.length, more, hits[0].marks], [1, true, [[9, 14]]])
    assert.match((await run(['session', 'search', 'train', '-n', '1'])).stderr, '-n 2 shows them')
    const none = await run(['session', 'search', 'train night'])
    assert.equal([none.code, none.stdout], [0, ''])
    assert.is((await run(['session', 'search', ''])).code, 64)
    const invalid = await run(['session', 'search', 'train', '--since', 'soon'])
    assert.is(invalid.code, 64)
    assert.match(invalid.stderr, /Invalid time "soon" for --since: use a time such as/)
    for (const [since, hits] of [
      ['7d', 4],
      ['last week', 4],
      ['2026-01-01', 4],
      ['2099-01-01', 0],
    ] as const) {
      const { stdout } = await run(['session', 'search', 'train', '--since', since, '--json'])
      assert.is(JSON.parse(stdout).hits.length, hits, since)
    }
    assert.equal(await run(['session', 'show']), await run(['session', 'show', 'A day train']))
    assert.match((await run(['session', 'undo', 'Trip'])).stderr, 'took 2 messages back from "Trip"')
    assert.is((await run(['session', 'undo', 'Trip'])).code, 65)
    for (const words of [[], ['Trip', '--all'], ['--all', '--older-than', '1d'], ['--older-than', 'soon']])
      assert.is((await run(['session', 'remove', '--yes', ...words])).code, 64, words.join(' '))
    assert.match((await run(['session', 'remove', '--older-than', '1d', '--yes'])).stderr, 'removed 0 conversations')
    assert.is((await names()).length, 2)
    assert.is((await run(['session', 'remove', '--all'])).code, 64, 'unasked it removes nothing')
    assert.is((await run(['session', 'remove', '--all', '--yes'])).code, 0)
    assert.equal(await names(), [])
  }))

test.run()

interface Scene {
  readonly app: App
  readonly url: string
  readonly provider: StandIn
  run(words: readonly string[], input?: string, environment?: Record<string, string>, shown?: boolean): Promise<Ran>
  /** Runs, with Ctrl-C once such text was printed, or a SILENT question was asked. */
  stopAfter(text: RegExp | 'asked', words: readonly string[]): Promise<Ran>
  /** Done while the provider answers the next question. */
  during(work: () => Promise<void>): void
  names(): Promise<readonly string[]>
  /** The last request to the provider, without prompts. */
  asked(): { model: string; texts: readonly string[] }
}

/** A data folder with the command line and a server on it, and a provider that counts the messages of a request. */
async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  let meanwhile: (() => Promise<void>) | undefined
  let silent = () => {}
  await using provider = await openStandIn(async (request, response) => {
    await meanwhile?.()
    meanwhile = undefined
    const { messages, stream } = JSON.parse(request.body) as { messages: Said[]; stream?: boolean }
    const said = messages.filter(({ role }) => role !== 'system')
    const text = `${said.length}: ${said.at(-1)!.content}`
    if (text.includes('SILENT')) return silent()
    if (text.includes('FAIL')) return json(response, 400, { error: { message: 'not this' } })
    if (!stream) return json(response, 200, completion(text))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const [, cut] = /^(.*WA)IT$/.exec(text) ?? []
    const events = completionEvents([cut ?? text.slice(0, 2), text.slice(2)])
    if (cut) return void response.write(events.slice(0, 2).join(''))
    if (text.includes('BREAK')) return void response.write(events.slice(0, 2).join(''), () => response.destroy())
    response.end(events.join(''))
  })
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-of-the-test' })
  const { home } = installation
  const base = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-of-the-test' }
  await installation.app.plugins.install(pluginAt(provider.url, { model_map: ['custom-model', 'other-model'] }))
  await installation.app.plugins.activate('custom')
  const run: Scene['run'] = (words, input, environment = {}, shown = false) =>
    runMain(words, { shown, environment: { ...base, ...environment }, ...(input !== undefined && { input }) })
  await work({
    app: installation.app,
    url: await installation.serve(),
    provider,
    run,
    stopAfter(text, words) {
      const { signal, abort } = stopper()
      if (text === 'asked') silent = abort
      return runMain(words, {
        environment: base,
        signal,
        heard: (name, said) => {
          if (name === 'stdout' && text !== 'asked' && text.test(said)) abort()
        },
      })
    },
    during(task) {
      meanwhile = task
    },
    async names() {
      const { sessions } = JSON.parse((await run(['session', 'list', '--json'])).stdout)
      return sessions.map(({ name }: { name: string }) => name)
    },
    asked() {
      const { model, messages } = JSON.parse(provider.received.at(-1)!.body) as { model: string; messages: Said[] }
      return { model, texts: messages.filter(({ role }) => role !== 'system').map(({ content }) => content) }
    },
  })
}

type Said = { readonly role: string; readonly content: string }

function stopper() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(interrupted) }
}
