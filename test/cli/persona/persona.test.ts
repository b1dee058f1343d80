import * as assert from 'uvu/assert'
import { pluck } from '../../helpers/pluck.ts'
import { callApi } from '../../helpers/program/daemon.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { converseHere, openFastHome, type Ran, runMain } from '../../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat persona')

test('create takes a name alone and the model that answers a chat, and says all that is missing', () =>
  scene(async ({ run, rest }) => {
    const created = await run(['persona', 'create', 'Mia'])
    assert.equal([created.code, created.stderr], [0, ''])
    const { name, model } = await rest(`/api/personas/${created.stdout.trim()}`)
    assert.equal([name, model], ['Mia', 'custom:m'])
    const missing = await run(['persona', 'create'])
    assert.is(missing.code, 64)
    assert.match(missing.stderr, /Name the persona: aichat persona create NAME/)
  }))

test('create, list, show, update and remove print ids and rows, and with --json the REST shape', () =>
  scene(async ({ run, rest }) => {
    const created = await run(['persona', 'create', '--name', 'Mia', '-m', 'gpt-4o', '--prompt', 'You are Mia.'])
    assert.equal([created.code, created.stderr], [0, ''])
    const id = created.stdout.trim()
    const shown = await run(['persona', 'show', 'Mia', '--json'])
    assert.equal(JSON.parse(shown.stdout), await rest(`/api/personas/${id}`))
    assert.equal(JSON.parse((await run(['persona', 'list', '--json'])).stdout), await rest('/api/personas'))
    assert.match(
      (await run(['persona', 'list'])).stdout,
      /^ID +NAME +MODEL +MEMORY +ADAPTS\n\S+ +Mia +gpt-4o +off +off\n$/,
    )
    const updated = await run(
      ['persona', 'update', 'Mia', '--memory', '--max-memories', '7', '--retention-days', '3', '--no-auto-cleanup']
        .concat(['--mutation', 'high', '--auto-adapt', '--parameter', 'temperature=0.3', '--parameter', 'stop=END'])
        .concat(['--description', 'A friend', '--embedding-model', 'builtin', '--name', 'Nia']),
    )
    assert.equal([updated.code, updated.stdout], [0, `${id}\n`])
    const after = await rest(`/api/personas/${id}`)
    assert.equal(
      [after.name, after.model, after.system_prompt, after.description, after.embedding_model, after.parameters],
      ['Nia', 'gpt-4o', 'You are Mia.', 'A friend', 'builtin', { temperature: 0.3, stop: 'END' }],
    )
    const memory = {
      enabled: true,
      max_memories: 7,
      auto_cleanup: false,
      retention_days: 3,
      min_score: 0.15,
      extract: 'off',
      extract_min_confidence: 0.8,
      placement: 'end',
      profile_tokens: 400,
      forget: 'ask',
    }
    assert.equal(after.memory_settings, memory)
    assert.equal(after.mutation_settings, { enabled: true, sensitivity: 'high', auto_adapt: true })
    assert.match((await run(['persona', 'show', id])).stdout, /memory +on in chat; up to 7, kept for good/)
    await run(['persona', 'update', 'Nia', '--no-memory', '--mutation', 'off'])
    const off = await rest(`/api/personas/${id}`)
    assert.equal([off.memory_settings.enabled, off.memory_settings.max_memories], [false, 7])
    assert.equal([off.mutation_settings.enabled, off.mutation_settings.sensitivity], [false, 'high'])

    const refused = await run(['persona', 'remove', 'Nia'])
    assert.equal([refused.code, refused.stdout], [64, ''])
    assert.match(refused.stderr, '--yes')
    const other = (await run(['persona', 'create', '--name', 'Other', '--model', 'm'])).stdout.trim()
    const removed = await run(['persona', 'remove', 'Nia', other, '--yes', '--json'])
    assert.equal(
      [removed.code, JSON.parse(removed.stdout)],
      [0, { personas: [id, other].map((each) => ({ id: each, removed: true })) }],
    )
    assert.equal(await rest('/api/personas'), { personas: [] })
  }))

test('an error about a persona has its exit code and a message on stderr', () =>
  scene(async ({ run }) => {
    const code = async (words: readonly string[]) => {
      const ran = await run(['persona', ...words])
      assert.is(ran.stdout, '', words.join(' '))
      return ran.code
    }
    assert.is(await code(['create', '--model', 'm']), 64)
    assert.is(await code(['create', '--model', 'm']), 64)
    assert.is(await code(['create', '--name', ' ', '--model', 'm']), 65)
    assert.is(await code(['create', '--name', 'M', '--model', 'm', '--mutation', 'wild']), 64)
    assert.is(await code(['create', '--name', 'M', '--model', 'm', '--parameter', 'nonsense']), 64)
    assert.is(await code(['create', '--name', 'M', '--model', 'm', '--parameter', 'temperature=9']), 65)
    assert.is(await code(['create', '--name', 'M', '--model', 'm', '--parameter', 'messages=[]']), 65)
    for (const rest of [
      ['show'],
      ['update', '--name', 'x'],
      ['remove', '--yes'],
      ['memory', 'list'],
      ['memory', 'search', 'tea'],
    ]) {
      const [verb, ...flags] = rest
      const words = verb === 'memory' ? ['memory', flags[0]!, 'nobody', ...flags.slice(1)] : [verb!, 'nobody', ...flags]
      assert.is(await code(words), 67, words.join(' '))
    }
    const missing = await run(['persona', 'create', '--name', 'M', '--model', 'm', '--embedding-model', 'bge-m3'])
    assert.is(missing.code, 65)
    assert.match(missing.stderr, 'ollama pull bge-m3')
    const error = await run(['persona', 'show', 'nobody', '--json'])
    const told = JSON.parse(error.stderr)
    assert.equal([error.stdout, error.code, told.code, told.exit], ['', 67, 'not_found', 67])
  }))

test('memories are added from words and from a pipe, listed, searched and wiped', () =>
  scene(async ({ run, rest }) => {
    const id = (await run(['persona', 'create', '--name', 'Mia', '--model', 'm'])).stdout.trim()
    const memory = (...words: string[]) => ['persona', 'memory', ...words]
    const added = await run(
      memory('add', 'Mia', 'My', 'cat', 'is', 'Mog', '--importance', '0.9', '--category', 'pets', '--pin'),
    )
    assert.equal([added.code, added.stderr], [0, ''])
    const piped = await run(memory('add', 'Mia', '-', '--json'), 'The garden\nneeds "water".\n')
    assert.is(JSON.parse(piped.stdout).content, 'The garden\nneeds "water".')
    assert.is((await run(memory('add', 'Mia'), 'He bought a car.')).code, 0)
    const path = `/api/personas/${id}/memory`
    assert.equal(JSON.parse((await run(memory('list', id, '--json'))).stdout), await rest(`${path}?limit=20`))
    const { memories } = await rest(path)
    assert.equal(pluck(memories, 'content'), ['He bought a car.', 'The garden\nneeds "water".', 'My cat is Mog'])
    assert.equal(memories[2].metadata, { category: 'pets', pinned: true })
    assert.equal([memories[2].importance_score, memories[2].id], [0.9, added.stdout.trim()])
    assert.match((await run(memory('list', id, '--category', 'pets'))).stdout, /pets \(pinned\) +My cat is Mog\n$/)
    const page = await run(memory('list', id, '-n', '1', '--offset', '1'))
    assert.match(page.stdout, 'The garden needs "water".')
    assert.match(page.stderr, '1 of 3')

    const found = await run(memory('search', 'Mia', 'which', 'automobile', '--json'))
    const answer = JSON.parse(found.stdout)
    assert.equal([answer.mode, answer.results[0].content], ['hybrid', 'He bought a car.'])
    assert.match(
      (await run(memory('search', 'Mia', 'cat', '-n', '1'))).stdout,
      /^SCORE .*\n\d\.\d{3} .*My cat is Mog\n$/,
    )
    for (const query of ['"', 'NEAR(', 'AND OR NOT', '-x', '*'])
      assert.is((await run(memory('search', 'Mia', '--', query))).code, 0, query)

    const refused = await run(memory('wipe', 'Mia'))
    assert.equal([refused.code, refused.stdout], [64, ''])
    assert.match(refused.stderr, '--yes')
    assert.is((await rest(path)).total, 3)
    await run(memory('add', 'Mia', 'Rex is a dog', '--category', 'dogs'))
    const some = await run(memory('wipe', 'Mia', '--category', 'pets', 'dogs', '--yes', '--json'))
    assert.equal([some.code, JSON.parse(some.stdout)], [0, { deleted: 2, may_remain_in: ['exported packages'] }])
    assert.is((await run(memory('wipe', 'Mia', '--before', '2020-01-31', '--yes'))).stdout, '0 wiped\n')
    assert.is((await run(memory('wipe', 'Mia', '--category', '', '--yes'))).stdout, '2 wiped\n')
    assert.is((await run(memory('wipe', 'Mia', '--yes'))).stdout, '0 wiped\n')
    const nothing = await run(memory('search', 'Mia', 'cat'))
    assert.equal(
      [nothing.code, nothing.stdout, nothing.stderr],
      [0, '', 'aichat: no memory matches\n'],
      'an empty memory is no failing model',
    )
  }))

test('an invalid memory, limit or date has its exit code, and nothing is stored', () =>
  scene(async ({ run, rest }) => {
    const id = (await run(['persona', 'create', '--name', 'Mia', '--model', 'm'])).stdout.trim()
    const code = async (words: readonly string[], input?: string) => {
      const ran = await run(['persona', 'memory', ...words], input)
      assert.is(ran.stdout, '', words.join(' '))
      assert.match(ran.stderr, /\S/)
      return ran.code
    }
    assert.is(await code(['add', id]), 64)
    assert.is(await code(['add', id, '-'], ''), 64)
    assert.is(await code(['add', id, '-'], ' \n'), 64)
    assert.is(await code(['add', id, '-'], 'x'.repeat(1_000_000)), 65)
    assert.is(await code(['add', id, '-'], 'x'.repeat(1_100_000)), 65)
    for (const importance of ['2', '-0.1']) assert.is(await code(['add', id, 'x', `--importance=${importance}`]), 65)
    for (const importance of ['NaN', 'x', ''])
      assert.ok([64, 65].includes(await code(['add', id, 'x', `--importance=${importance}`])))
    assert.is(await code(['add', id, 'x', '--category', ' ']), 65)
    for (const when of ['yesterday', '2024-13-01', '1.5', '', '-1'])
      assert.ok([64, 65].includes(await code(['add', id, 'x', `--time=${when}`])), when)
    for (const limit of ['0', '-1', '1001', '1.5', 'x', '']) {
      assert.ok([64, 65].includes(await code(['list', id, `--limit=${limit}`])), limit)
      assert.ok([64, 65].includes(await code(['search', id, 'x', `--limit=${limit}`])), limit)
    }
    assert.is(await code(['search', id, '']), 65)
    assert.is(await code(['search', id, 'x'.repeat(10_001)]), 65)
    assert.is(await code(['wipe', id, '--before', 'someday', '--yes']), 64)
    assert.equal(await rest(`/api/personas/${id}/memory`), { memories: [], total: 0 })
  }))

test('a time without a zone is local wherever it is typed, as it is shown, and a day is one of the calendar', async () => {
  const home = openFastHome()
  const { TZ } = process.env
  process.env['TZ'] = 'Asia/Tokyo'
  assert.is(new Date(0).getHours(), 9)
  await home.aichat(['persona', 'create', '--name', 'Mia', '--model', 'm'])
  const memory = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await home.aichat(['persona', 'memory', ...words])
    return `${code} ${stdout}${stderr}`
  }
  await memory('add', 'Mia', 'tea', '--timestamp', '2024-05-08T17:30')
  assert.match(await memory('list', 'Mia'), / 8 May 2024 .* tea\n/)
  assert.match(await memory('list', 'Mia', '--plain'), /\t2024-05-08T17:30\+09:00\t.*tea\n/)
  assert.is(
    JSON.parse((await memory('list', 'Mia', '--json')).slice(2)).memories[0].timestamp,
    Date.UTC(2024, 4, 8, 8, 30),
  )
  assert.match(await memory('list', 'Mia', '--after', '2024-05-08T17:30'), / tea\n/)
  assert.is(await memory('list', 'Mia', '--after', '2024-05-08T17:31'), '0 aichat: no memory meets these conditions\n')
  for (const day of ['2024-02-30', '2023-02-29', '2024-04-31T10:00'])
    assert.match(await memory('add', 'Mia', 'never', '--timestamp', day), /^64 aichat: .*Use a time such as/)
  assert.match(await memory('list', 'Mia', '--after', '2024-02-30'), /^64 aichat: Invalid time "2024-02-30"/)
  if (TZ === undefined) delete process.env['TZ']
  else process.env['TZ'] = TZ
  home.remove()
})

test('at a terminal a wipe offers the categories to tick, and asks before it takes them', () =>
  scene(async ({ run, rest, home }) => {
    const id = (await run(['persona', 'create', '--name', 'Mia', '--model', 'm'])).stdout.trim()
    for (const [content, category] of [
      ['Mog is a cat', 'pets'],
      ['I like tea', 'taste'],
      ['The sky', ''],
    ] as const)
      await run(['persona', 'memory', 'add', id, content, ...(category ? ['--category', category] : [])])
    const wipe = ['persona', 'memory', 'wipe', 'Mia']
    const path = `/api/personas/${id}/memory`
    const declined = await converseHere(home, wipe, [
      [/Which categories\?/, ''],
      [/for good\?/, 'n'],
    ])
    assert.equal([declined.code, declined.stdout, (await rest(path)).total], [1, '', 3])
    // A space deselects the first choice: memories without a category stay.
    const wiped = await converseHere(home, wipe, [
      [/Which categories\?/, { keys: ' \r' }],
      [/Wipe the memories of pets, taste of Mia for good\?/, 'y'],
    ])
    assert.equal([wiped.code, wiped.stdout], [0, '2 wiped\n'], wiped.shown)
    assert.match(wiped.shown, /\(no category\): 1/)
    const left = await rest(path)
    assert.equal([left.total, left.memories[0].content], [1, 'The sky'])
    const interrupted = await converseHere(home, wipe, [[/for good\?/, { keys: '\x03' }]])
    assert.equal([interrupted.code, (await rest(path)).total], [130, 1])
  }))

test('chat -p speaks as the persona and remembers; --dry-run shows it, --no-memory leaves it out', () =>
  scene(async ({ run, provider, rest }) => {
    const flags = ['--model', 'm', '--prompt', 'You are Mia.', '--parameter', 'seed=5', '--memory']
    const id = (await run(['persona', 'create', '--name', 'Mia', ...flags])).stdout.trim()
    const sent = () => JSON.parse(provider.received.at(-1)!.body)
    const told = await run(['chat', '-p', 'Mia', 'My sister is a physician in Zurich.'])
    assert.equal([told.code, told.stdout], [0, 'Noted.\n'])
    assert.equal([sent().model, sent().seed, sent().messages[0].content], ['m', 5, 'You are Mia.'])
    const asked = await run(['chat', '-r', 'Mia', '-S', 'Where does my sister work as a physician?'])
    assert.is(asked.stdout, 'Noted.\n')
    assert.match(
      sent().messages.at(-1).content,
      /\n- \[\d{4}-\d\d-\d\d, user, chat\] My sister is a physician in Zurich\.\n/,
    )
    const count = provider.received.length
    const dry = await run(['chat', '-p', 'Mia', '--dry-run', 'Is my sister a physician?'])
    assert.match(JSON.parse(dry.stdout).body.messages.at(-1).content, /- \[.*physician/)
    assert.is(provider.received.length, count)
    await run(['chat', '-p', 'Mia', '--no-memory', 'Is she a physician?'])
    assert.is(sent().messages[0].content, 'You are Mia.')
    await run(['chat', '-p', 'Mia', '-m', 'other', '--temperature', '0', 'I have two bicycles.'])
    assert.equal([sent().model, sent().temperature], ['other', 0])
    await run(['chat', 'I have a dog.'], undefined, { AICHAT_PERSONA: 'Mia' })
    assert.is(sent().messages[0].content, 'You are Mia.')
    const contents = (await rest(`/api/personas/${id}/memory`)).memories.map(
      ({ content }: { content: string }) => content,
    )
    assert.equal(contents, [
      'I have a dog.',
      'I have two bicycles.',
      'Where does my sister work as a physician?',
      'My sister is a physician in Zurich.',
    ])
    assert.is((await run(['chat', '-p', 'nobody', 'Hello there'])).code, 67)
    const reply = JSON.parse((await run(['chat', '-p', 'Mia', '--json', 'Do I have a dog?'])).stdout)
    assert.ok(reply.aichat.memories.length > 0)
  }))

test.run()

interface Scene {
  readonly home: string
  readonly environment: Record<string, string>
  /** The API on the same data folder, as the same owner. */
  readonly url: string
  readonly provider: StandIn
  run(words: readonly string[], input?: string, environment?: Record<string, string>): Promise<Ran>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  rest(path: string): Promise<any>
}

/** A data folder with the command line and a server on it, and a plugin with a provider that answers "Noted." */
async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn((request, response) => {
    if (!JSON.parse(request.body).stream) return json(response, 200, completion('Noted.'))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['Not', 'ed.']).join(''))
  })
  await using installation = openInstallation()
  await installation.app.plugins.install(pluginAt(provider.url, { model_map: ['m', 'other'] }))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const common = {
    AICHAT_HOME: installation.home,
    HOME: installation.home,
    OLLAMA_HOST: '127.0.0.1:9',
    CUSTOM_API_KEY: 'sk-of-the-test',
    AICHAT_TOKEN: 'nobody-looks-at-it',
  }
  await work({
    home: installation.home,
    environment: common,
    url,
    provider,
    run: (words, input, environment = {}) =>
      runMain(words, { environment: { ...common, ...environment }, ...(input !== undefined && { input }) }),
    rest: async (path) => (await callApi(url)('GET', path)).body,
  })
}
