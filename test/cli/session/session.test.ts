import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluck } from '../../helpers/pluck.ts'
import { callApi } from '../../helpers/program/daemon.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { converseHere, type Ran, runMain } from '../../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat session')

test('-s begins a conversation and goes on with it, also from a pipe; --continue takes the last', () =>
  scene(async ({ run, rest, sent }) => {
    const first = await run(['chat', '-s', 'Trip', 'one'])
    assert.equal([first.code, first.stdout, first.stderr], [0, '1: one\n', ''])
    assert.is((await run(['chat', '-s', 'Trip'], 'two\n')).stdout, '3: two\n')
    assert.is((await run(['chat', '-s', 'Trip', '-S', 'Sum up:'], 'three')).stdout, '5: Sum up:\n\nthree\n')
    assert.is((await run(['chat', '-s', 'Other', 'hello'])).stdout, '1: hello\n')
    const continued = await run(['chat', '--continue', 'again'])
    assert.equal([continued.stdout, continued.stderr], ['3: again\n', 'aichat: continuing "Other"\n'])
    assert.is((await run(['chat', '-s', 'Trip', '--json', 'four'])).code, 0)
    assert.is((await run(['chat', '--continue', '-q', 'five'])).stdout, '9: five\n')
    assert.equal(
      sent().map(({ content }) => content.replace(/^\d: /, '')),
      ['one', 'one', 'two', 'two', 'Sum up:\n\nthree', 'Sum up:\n\nthree', 'four', 'four', 'five'],
    )
    assert.is((await run(['chat', 'apart'])).stdout, '1: apart\n')
    const { sessions } = await rest('/api/sessions')
    assert.equal(pluck(sessions, 'name', 'message_count'), [
      ['apart', 2],
      ['Trip', 10],
      ['Other', 4],
    ])
  }))

test('a dry run creates no conversation, and shows the request of an existing one', () =>
  scene(async ({ run, rest, provider }) => {
    assert.is((await run(['chat', '-s', 'New', '--dry-run', 'hello'])).code, 0)
    assert.equal((await rest('/api/sessions')).sessions, [])
    await run(['chat', '-s', 'Trip', 'one'])
    const count = provider.received.length
    const dry = JSON.parse((await run(['chat', '-s', 'Trip', '--dry-run', 'two'])).stdout)
    assert.equal(pluck(dry.body.messages, 'content'), ['one', '1: one', 'two'])
    assert.is(provider.received.length, count)
    assert.is((await rest('/api/sessions')).sessions[0].message_count, 2)
  }))

test('a conversation that failed is as it was, and --continue without any is exit 67', () =>
  scene(async ({ run, rest }) => {
    assert.is((await run(['chat', '--continue', 'hello'])).code, 67)
    await run(['chat', '-s', 'Trip', 'one'])
    for (const flags of [[], ['-S'], ['--no-fallback']])
      assert.not.equal((await run(['chat', '-s', 'Trip', 'FAIL', ...flags])).code, 0)
    const broken = await run(['chat', '-s', 'Trip', 'BREAK'])
    assert.is(broken.code, 76)
    assert.is((await rest('/api/sessions/Trip')).message_count, 2)
    assert.is((await run(['chat', '-s', 'Trip', 'two'])).stdout, '3: two\n')
  }))

test('list, show, rename and remove print rows and ids, and with --json the REST shape', () =>
  scene(async ({ run, rest }) => {
    await run(['chat', '-s', 'Trip', 'Where to?'])
    await run(['chat', '-s', 'Work', 'hello'])
    const id = (await rest('/api/sessions/Trip')).id
    const list = await run(['session', 'list'])
    assert.match(list.stdout, /^NAME +MESSAGES +LAST\nWork +2 +\w+day \d+:\d\d\nTrip +2 +\w+day \d+:\d\d\n$/)
    assert.match((await run(['session', 'list', '--plain'])).stdout, `${id}\tTrip\t2\t`)
    assert.equal(JSON.parse((await run(['session', 'list', '--json'])).stdout), await rest('/api/sessions'))
    assert.is(JSON.parse((await run(['session', 'list', '-n', '1', '--json'])).stdout).sessions.length, 1)
    for (const name of [id, 'Trip'])
      assert.equal(
        JSON.parse((await run(['session', 'show', name, '--json'])).stdout),
        await rest('/api/sessions/Trip'),
      )
    assert.match(
      (await run(['session', 'show', 'Trip'])).stdout,
      /^\*\*user\*\* \(\d{4}-[^)]*\)\n\nWhere to\?\n\n\*\*assistant\*\* \([^)]*\)\n\n1: Where to\?\n\n\*custom-model · custom · \d+ \+ \d+ tokens · \d\.\d s\*\n$/,
    )
    const taken = await run(['session', 'rename', 'Trip', 'Work'])
    assert.equal([taken.code, taken.stdout], [65, ''])
    assert.equal((await run(['session', 'rename', 'Trip', 'Voyage'])).stdout, `${id}\n`)
    assert.is((await rest('/api/sessions/Voyage')).id, id)
    for (const words of [['show'], ['rename', 'x'], ['export'], ['remove', '--yes']]) {
      const [verb, ...more] = words
      const { code, stdout } = await run(['session', verb!, 'nobody', ...more])
      assert.equal([code, stdout], [67, ''], verb)
    }
    for (const limit of ['0', '1001', 'x'])
      assert.ok([64, 65].includes((await run(['session', 'list', '-n', limit])).code), limit)
    const refused = await run(['session', 'remove', 'Voyage'])
    assert.equal([refused.code, refused.stdout], [64, ''])
    assert.match(refused.stderr, '--yes')
    const removed = await run(['session', 'remove', 'Voyage', 'Work', '--yes', '--json'])
    assert.is(JSON.parse(removed.stdout).sessions.length, 2)
    assert.equal((await rest('/api/sessions')).sessions, [])
  }))

test('export writes Markdown or JSON to stdout or to a file, and replaces none unasked', () =>
  scene(async ({ run, rest, home }) => {
    await run(['chat', '-s', 'Trip', 'Where to?'])
    const markdown = await run(['session', 'export', 'Trip'])
    assert.match(markdown.stdout, /^# Trip\n\n\*\*user\*\* /)
    const file = join(home, 'trip.json')
    const written = await run(['session', 'export', 'Trip', '--format', 'json', '-o', file])
    assert.equal([written.code, written.stdout], [0, ''])
    assert.equal(JSON.parse(readFileSync(file, 'utf8')), await rest('/api/sessions/Trip'))
    writeFileSync(file, 'mine')
    assert.is((await run(['session', 'export', 'Trip', '-o', file])).code, 73)
    assert.is(readFileSync(file, 'utf8'), 'mine')
    assert.is((await run(['session', 'export', 'Trip', '-o', file, '--force'])).code, 0)
    assert.is(readFileSync(file, 'utf8'), markdown.stdout)
    assert.is((await run(['session', 'export', 'Trip', '--format', 'pdf'])).code, 64)
    assert.is((await run(['session', 'export', 'Trip', '-o', join(home, 'no', 'such', 'folder')])).code, 73)
  }))

test('a conversation speaks as the persona it was begun with', () =>
  scene(async ({ run, sent }) => {
    await run(['persona', 'create', '--name', 'Mia', '--model', 'm', '--prompt', 'You are Mia.'])
    await run(['chat', '-s', 'Talk', '-p', 'Mia', 'one'])
    await run(['chat', '-s', 'Talk', 'two'])
    assert.equal(
      sent().map(({ role, content }) => (role === 'system' ? content : role)),
      ['You are Mia.', 'user', 'assistant', 'user'],
    )
    await run(['persona', 'remove', 'Mia', '--yes'])
    const without = await run(['chat', '-s', 'Talk', 'three'])
    assert.equal([without.code, without.stdout], [0, '5: three\n'], without.stderr)
  }))

test('a conversation at a terminal is saved, and goes on later', () =>
  scene(async ({ run, rest, home, environment, sent }) => {
    const talk = await converseHere(
      home,
      ['chat'],
      [
        [/Ctrl-D ends the conversation\.\s+> $/, 'one'],
        [/one[\s\S]*> $/, 'FAIL'],
        [/not this[\s\S]*> $/, 'two'],
        [/two\s+> $/, { keys: '\x04' }],
      ],
      environment,
    )
    assert.equal([talk.code, talk.stdout], [0, '1: one\n3: two\n'], talk.shown)
    const [session] = (await rest('/api/sessions')).sessions
    assert.is(session.message_count, 4)
    assert.is(session.name, 'one')
    assert.match(talk.shown, /\naichat: one · 2 turns(?: · [\d,]+ tokens)? · go on: aichat chat -s one\s/)
    assert.is((await run(['chat', '--continue', 'three'])).stdout, '5: three\n')
    assert.is(sent()[0]!.content, 'one')
  }))

test('a conversation in which nothing was answered is not kept', () =>
  scene(async ({ rest, home, environment }) => {
    const answers = [
      [/Ctrl-D ends the conversation\.\s+> $/, 'FAIL'],
      [/not this[\s\S]*> $/, { keys: '\x04' }],
    ] as const
    const talk = await converseHere(home, ['chat'], answers, environment)
    assert.equal([talk.code, talk.stdout], [0, ''], talk.shown)
    assert.not.match(talk.shown, 'go on: ')
    assert.equal((await rest('/api/sessions')).sessions, [])
    assert.is((await converseHere(home, ['chat', '--dry-run'], [], environment)).code, 64, 'a dry run sends nothing')
  }))

test.run()

type Sent = { readonly role: string; readonly content: string }

interface Scene {
  readonly home: string
  readonly environment: Record<string, string>
  readonly provider: StandIn
  run(words: readonly string[], input?: string): Promise<Ran>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  rest(path: string): Promise<any>
  /** The messages of the last request to the provider. */
  sent(): Sent[]
}

/** A data folder with the command line and a server on it, and a provider that counts the messages of a request. */
async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn((request, response) => {
    const { messages, stream } = JSON.parse(request.body) as { messages: Sent[]; stream?: boolean }
    const said = messages.filter(({ role }) => role !== 'system')
    const text = `${said.length}: ${said.at(-1)!.content}`
    if (text.includes('FAIL')) return json(response, 400, { error: { message: 'not this' } })
    if (!stream) return json(response, 200, completion(text))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = completionEvents([text.slice(0, 2), text.slice(2)])
    if (!text.includes('BREAK')) return void response.end(events.join(''))
    response.write(events.slice(0, 2).join(''), () => response.destroy())
  })
  await using installation = openInstallation()
  const { home } = installation
  await installation.app.plugins.install(pluginAt(provider.url))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const environment = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-of-the-test' }
  await work({
    home,
    environment,
    provider,
    run: (words, input) => runMain(words, { environment, ...(input !== undefined && { input }) }),
    rest: async (path) => (await callApi(url)('GET', path)).body,
    sent: () => JSON.parse(provider.received.at(-1)!.body).messages,
  })
}
