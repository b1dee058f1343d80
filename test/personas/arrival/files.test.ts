// Some with --all only: many processes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import * as assert from 'uvu/assert'
import { plainPng, writePngTexts } from '../../../src/formats/png-text.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { zipOf } from '../../helpers/personas/package-forge.ts'
import { type Installation, openInstallation } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const files = suite('files of other programs')

const fixtures = new URL('./test/fixtures/arrivals/', import.meta.resolve('#package'))
const fixture = (name: string) => readFileSync(new URL(name, fixtures))

let installation: Installation
let url = ''

files.before(async () => {
  installation = openInstallation()
  url = await installation.serve()
})

files.after(() => installation.close())

async function ask(method: string, path: string, body?: Buffer | object) {
  const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json'
  const response = await fetch(`${url}/api/${path}`, {
    method,
    headers: { 'content-type': type },
    ...(bytes && { body: new Uint8Array(bytes) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what is tested
  return { status: response.status, text, body: (isJson ? JSON.parse(text) : undefined) as any }
}

const bring = (file: Buffer | string, query = '') =>
  ask('POST', `personas/import?model=m${query}`, Buffer.isBuffer(file) ? file : Buffer.from(file))

async function memoriesOf(id: string) {
  const { body } = await ask('GET', `personas/${id}/memory?limit=100`)
  return body.memories as { content: string; timestamp: number; importance_score: number; metadata: object }[]
}

const shortOf = (list: Awaited<ReturnType<typeof memoriesOf>>) =>
  list.map(({ content, metadata }) => ({ content, ...metadata })).sort((a, b) => (a.content < b.content ? -1 : 1))

const personas = async () => (await ask('GET', 'personas')).body.personas.length as number

files(
  'of Letta become a persona: blocks are pinned, passages and the talk are memories, the rest is named',
  async () => {
    const before = await personas()
    const plan = await bring(fixture('letta.af'), '&dry_run=true')
    assert.equal([plan.status, plan.body.format, plan.body.name], [201, 'letta', 'Sam'])
    assert.equal([plan.body.imported, plan.body.conversations], [{ memories: 6, adaptations: 0 }, 1])
    assert.equal(plan.body.left_out, [
      { what: 'messages of the system and of tools', count: 2 },
      { what: 'agents beyond the first', count: 1 },
      { what: 'empty memory blocks', count: 1 },
      { what: 'environment variables of tools', count: 1 },
      { what: 'events that are no talk, such as logins', count: 1 },
      { what: 'rules for tools', count: 1 },
      { what: 'tools, which are not run here', count: 1 },
    ])
    assert.is(await personas(), before, 'a dry run writes nothing')
    const { body } = await bring(fixture('letta.af'))
    assert.equal({ ...body, persona_id: '', dry_run: true }, { ...plan.body, persona_id: '' })
    const persona = (await ask('GET', `personas/${body.persona_id}`)).body
    assert.equal(
      [persona.name, persona.system_prompt, persona.description, persona.memory_settings.enabled],
      ['Sam', 'You are Sam, a companion with a long memory.', 'A companion', true],
    )
    const memories = await memoriesOf(body.persona_id)
    const talk = { source: 'letta', conversation: 'letta/Sam' }
    assert.equal(shortOf(memories), [
      { content: "Chad's harbour is Wedel.", category: 'archival', source: 'letta' },
      {
        content: 'First name: Chad. Studies computer science.',
        category: 'core',
        pinned: true,
        source: 'letta',
        label: 'human',
      },
      { content: 'I am Sam. I am curious.', category: 'core', pinned: true, source: 'letta', label: 'persona' },
      { content: 'I sail a small boat on the Elbe.', ...talk, speaker: 'user' },
      { content: 'She is called Lotte.', ...talk, speaker: 'user' },
      { content: 'What is the boat called?', ...talk, speaker: 'Sam' },
    ])
    const times = Object.fromEntries(memories.map(({ content, timestamp }) => [content, timestamp]))
    assert.is(times['She is called Lotte.'], Date.UTC(2025, 9, 31, 22, 59), 'a time without a zone is UTC')
    assert.is(times["Chad's harbour is Wedel."], Date.UTC(2025, 8, 1, 10))
  },
)

files('of Letta are read in their first form, too, and bring the model where none is named', async () => {
  const { body } = await ask('POST', 'personas/import', fixture('letta-first.af'))
  assert.equal([body.format, body.imported.memories, body.left_out.length], ['letta', 3, 2])
  assert.is((await ask('GET', `personas/${body.persona_id}`)).body.model, 'gpt-4-0613')
})

for (const [name, data] of [
  ['a file', fixture('chatgpt.json')],
  [
    'an archive',
    zipOf([
      { name: 'chat.html', data: Buffer.from('<html>') },
      { name: 'dalle-generations/file-1.webp', data: Buffer.from('webp') },
      { name: 'conversations.json', data: fixture('chatgpt.json'), method: 8 },
    ]),
  ],
] as const)
  files(
    `of ChatGPT in ${name} bring the user's turns of the shown branch, with conversation, speaker and time`,
    async () => {
      const { status, body } = await bring(data, '&name=Me')
      assert.equal([status, body.format, body.name, body.conversations], [201, 'chatgpt', 'Me', 2])
      assert.equal(body.left_out, [
        { what: 'messages of the system and of tools', count: 2 },
        { what: 'code, thoughts and other parts that are no talk', count: 1 },
        { what: 'pictures and files', count: 1 },
        { what: "the assistant's answers, which --with-answers takes", count: 1 },
        { what: 'turns that were edited or answered anew later', count: 1 },
      ])
      const sailing = { source: 'chatgpt', speaker: 'user', conversation: '6f1d-1', title: 'Sailing plans' }
      const memories = await memoriesOf(body.persona_id)
      assert.equal(shortOf(memories), [
        { content: 'An old question about knots.', source: 'chatgpt', speaker: 'user', conversation: 'old-1' },
        { content: 'This is my boat, Lotte.', ...sailing },
        { content: 'Where can I sail near Hamburg?', ...sailing },
      ])
      const times = memories.map(({ timestamp }) => timestamp)
      assert.equal(
        times,
        [1_700_000_020_000, 1_700_000_010_125, 1_600_000_000_000],
        'the time of the conversation for want of one',
      )
      assert.is((await ask('GET', `personas/${body.persona_id}`)).body.memory_settings.enabled, true)
    },
  )

files('of Claude come into a persona that is named, with the answers on request, and equal memories once', async () => {
  const { id } = (await ask('POST', 'personas', { name: 'Gardener', model: 'm' })).body
  const first = (await bring(fixture('claude.json'), '&persona=Gardener')).body
  assert.equal([first.format, first.mode, first.persona_id, first.imported.memories], ['claude', 'merge', id, 2])
  const again = (await bring(fixture('claude.json'), '&persona=Gardener&with_answers=true')).body
  assert.equal([again.imported.memories, again.duplicates, again.conversations], [1, 2, 1])
  const garden = { source: 'claude', conversation: 'c-1', title: 'Garden' }
  assert.equal(shortOf(await memoriesOf(id)), [
    { content: 'I grow tomatoes on the balcony.', ...garden, speaker: 'user' },
    { content: 'Ox hearts.', ...garden, speaker: 'user' },
    { content: 'Which kind?', ...garden, speaker: 'assistant' },
  ])
  const after = Date.UTC(2025, 2, 1, 9, 0, 30)
  const later = (await bring(fixture('claude.json'), `&dry_run=true&after=${after}`)).body
  assert.is(later.imported.memories, 1)
  assert.equal(later.left_out.find(({ what }: { what: string }) => /before/.test(what)).count, 1)
})

files('of ChatGPT bring spoken turns, whose recordings are left out', async () => {
  const spoken = (role: string, text: string) => ({
    author: { role },
    content: {
      content_type: 'multimodal_text',
      parts: [
        { content_type: 'audio_transcription', text, direction: role === 'user' ? 'in' : 'out', decoding_id: null },
        role === 'user'
          ? { content_type: 'real_time_user_audio_video_asset_pointer', audio_asset_pointer: {} }
          : { content_type: 'audio_asset_pointer', asset_pointer: 'file-service://1' },
      ],
    },
  })
  const mapping = {
    a: { message: spoken('user', 'My owl is called Otto.'), parent: null, children: ['b'] },
    b: { message: spoken('assistant', 'A fine name.'), parent: 'a', children: [] },
  }
  const { body } = await bring(JSON.stringify([{ mapping, current_node: 'b' }]), '&with_answers=true')
  assert.equal((await memoriesOf(body.persona_id)).map(({ content }) => content).sort(), [
    'A fine name.',
    'My owl is called Otto.',
  ])
  assert.equal(body.left_out, [{ what: 'recordings of spoken turns', count: 2 }])
})

files('of Claude bring its memories and the descriptions of projects, from the archive and alone', async () => {
  const memories = [
    {
      conversations_memory: '**Personal context**\n\nShe has a cat.\n\nShe sails.',
      project_memories: { p1: 'The boat is red.' },
      account_uuid: 'u',
    },
  ]
  const projects = [
    { uuid: 'p1', name: 'Boat', description: 'Mend the boat', prompt_template: 'Be brief.', docs: [{ content: 'x' }] },
    { uuid: 'p2', name: 'How to', is_starter_project: true, description: 'Theirs', prompt_template: '', docs: [] },
    { uuid: 'p3', name: 'Empty', description: '', prompt_template: '', docs: [] },
  ]
  const member = (name: string, data: unknown) => ({ name, data: Buffer.from(JSON.stringify(data)) })
  const lists = [member('memories.json', memories), member('projects.json', projects), member('users.json', [{}])]
  const left = [
    { what: 'documents of projects', count: 1 },
    { what: 'instructions of projects', count: 1 },
    { what: "projects of Claude's maker", count: 1 },
    { what: 'projects without a description', count: 1 },
  ]
  const whole = zipOf([{ name: 'conversations.json', data: fixture('claude.json') }, ...lists])
  for (const [file, contents] of [
    [zipOf(lists), ['Mend the boat', 'She has a cat.', 'She sails.', 'The boat is red.']],
    [lists[0]!.data, ['She has a cat.', 'She sails.', 'The boat is red.']],
    [lists[1]!.data, ['Mend the boat']],
  ] as const) {
    const { body } = await bring(file)
    assert.is(body.format, 'claude')
    assert.equal((await memoriesOf(body.persona_id)).map(({ content }) => content).sort(), contents)
    if (contents[0] === 'Mend the boat') assert.equal(body.left_out, left)
  }
  const alone = (await bring(fixture('claude.json'), '&dry_run=true')).body.imported.memories
  assert.is((await bring(whole, '&dry_run=true')).body.imported.memories, alone + 4)
})

files('of JSON lines come back as they went', async () => {
  const { body } = await bring(fixture('memories.jsonl'))
  assert.equal([body.format, body.imported.memories, body.duplicates, body.conversations], ['jsonl', 2, 1, 1])
  const first = await ask('POST', `personas/${body.persona_id}/export`, { format: 'jsonl' })
  assert.equal(JSON.parse(first.text.split('\n')[0]!), {
    content: 'Ada likes tea.',
    timestamp: 1_700_000_005_000,
    importance_score: 0.9,
    // It is in the file twice.
    metadata: { category: 'taste', speaker: 'Ada', conversation: 'one', times: [1_700_000_000_000, 1_700_000_005_000] },
  })
  const copy = (await bring(Buffer.from(first.text))).body
  assert.is((await ask('POST', `personas/${copy.persona_id}/export`, { format: 'jsonl' })).text, first.text)
})

files('of JSON lines are refused whole, with every problem by its line', async () => {
  const before = await personas()
  const { status, body } = await bring(
    [
      '{"content":"fine"}',
      '{"content":""}',
      '{"contents":"typo"}',
      'no json',
      '{"content":"x","timestamp":"today"}',
      `{"content":"${'x'.repeat(300_000)}"}`,
    ].join('\n'),
  )
  assert.is(status, 400)
  for (const [at, start] of [
    'line 2:',
    'line 3:',
    'line 3:',
    'line 4 is not JSON',
    'line 5: timestamp',
    'line 6 is longer',
  ].entries())
    assert.ok(body.details[at].startsWith(start), body.details.join('\n'))
  assert.is(await personas(), before)
})

files.whole('are imported by command with the same counts, over --into without a mode', async () => {
  using home = openFastHome()
  const folder = temporaryFolder()
  const file = join(folder, 'claude.json')
  writeFileSync(file, fixture('claude.json'))
  const plan = await home.aichat([
    'persona',
    'import',
    file,
    '--dry-run',
    '--model',
    'm',
    '--after',
    '2025-03-01T09:00:30Z',
  ])
  assert.is(plan.code, 0, plan.stderr)
  assert.is(plan.stdout, '')
  assert.match(plan.stderr, /1 memory of 1 conversation and 0 adaptations would be imported into "Claude"/)
  assert.match(plan.stderr, /left out: 1 the assistant's answers, which --with-answers takes/)
  assert.is((await home.aichat(['persona', 'create', '--name', 'Ada', '--model', 'm'])).code, 0)
  const done = await home.aichat(['persona', 'import', file, '--into', 'Ada', '--with-answers'])
  assert.match(done.stderr, /3 memories of 1 conversation and 0 adaptations imported into "Ada"/)
  const lines = await home.aichat(['persona', 'export', 'Ada', '--format', 'jsonl'])
  assert.is(lines.stdout.trim().split('\n').length, 3)
  const verified = await home.aichat(['persona', 'verify', file])
  assert.match(verified.stdout, /it is a JSON list/)
})

/** An archive of one member with lengths of 64 bits in its local header (APPNOTE 4.5.3), or sums behind it (4.3.9). */
function wideZip(name: string, data: Buffer, isStreamed: boolean): Buffer {
  const lengths = (order: readonly number[]) => {
    const bytes = Buffer.alloc(16)
    for (const [at, length] of order.entries()) bytes.writeBigUInt64LE(BigInt(length), at * 8)
    return bytes
  }
  const known = isStreamed ? 0 : data.length
  const local = Buffer.alloc(30)
  local.write('PK\x03\x04', 0, 'latin1')
  local.writeUInt16LE(45, 4)
  local.writeUInt16LE(isStreamed ? 8 : 0, 6)
  local.writeUInt32LE(isStreamed ? 0 : crc32(data), 14)
  local.fill(0xff, 18, 26)
  local.writeUInt16LE(name.length, 26)
  local.writeUInt16LE(20, 28)
  const extra = Buffer.concat([Buffer.from([1, 0, 16, 0]), lengths([known, known])])
  const sums = Buffer.alloc(8)
  sums.write('PK\x07\x08', 0, 'latin1')
  sums.writeUInt32LE(crc32(data), 4)
  const behind = isStreamed ? [sums, lengths([data.length, data.length])] : []
  const member = Buffer.concat([local, Buffer.from(name), extra, data, ...behind])
  const entry = Buffer.alloc(46)
  entry.write('PK\x01\x02', 0, 'latin1')
  local.copy(entry, 6, 4, 14)
  entry.writeUInt32LE(crc32(data), 16)
  entry.writeUInt32LE(data.length, 20)
  entry.writeUInt32LE(data.length, 24)
  entry.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(entry.length + name.length, 12)
  end.writeUInt32LE(member.length, 16)
  return Buffer.concat([member, entry, Buffer.from(name), end])
}

for (const isStreamed of [false, true])
  files(
    `in archives with lengths of 64 bits in their headers are read, ${isStreamed ? 'behind' : 'before'} the data`,
    async () => {
      const zip = wideZip('conversations.json', fixture('claude.json'), isStreamed)
      assert.is((await bring(zip, '&dry_run=true')).body.imported?.memories, 2)
      const wrong = Buffer.from(zip)
      // The lower byte of a length: in the extra field behind header and name, or among the sums before the directory.
      const at = isStreamed ? zip.length - 22 - 46 - 18 - 16 : 30 + 18 + 4
      wrong[at] = wrong[at]! ^ 1
      assert.match((await bring(wrong, '&dry_run=true')).body.details.join(), /match the directory/)
    },
  )

files('cannot be chosen from by options that a package does not have', async () => {
  const { id } = (await ask('POST', 'personas', { name: 'Packed', model: 'm' })).body
  const whole = await ask('POST', `personas/${id}/export`, {})
  const { status, body } = await bring(whole.text, '&after=5')
  assert.equal([status, body.error], [400, 'A package is imported whole'])
})

const turn = (id: string, parent: unknown, children: unknown, role = 'user') => ({
  id,
  parent,
  children,
  message: { author: { role }, content: { content_type: 'text', parts: [`text of ${id}`] } },
})

const odd: readonly (readonly [name: string, conversation: unknown, memories: number])[] = [
  ['goes round', { mapping: { a: turn('a', 'b', ['b']), b: turn('b', 'a', ['a']) }, current_node: 'a' }, 2],
  ['goes round below its root', { mapping: { a: turn('a', null, ['b']), b: turn('b', 'a', ['b', 'a']) } }, 2],
  ['refers to itself', { mapping: { a: turn('a', 'a', ['a']) }, current_node: 'a' }, 1],
  ['has no node', { mapping: {} }, 0],
  ['has a list for a tree', { mapping: [1, 2] }, 0],
  ['has nodes of wrong types', { mapping: { a: 7, b: null, c: [turn('c', 1, 2)] }, current_node: 'a' }, 0],
  ['has messages of wrong types', { mapping: { a: { message: { author: 3, content: 'x' } } }, current_node: 'a' }, 0],
  [
    'has parts of wrong types',
    {
      mapping: { a: { message: { author: { role: 'user' }, content: { content_type: 'text', parts: { x: 1 } } } } },
      current_node: 'a',
    },
    0,
  ],
  [
    'has a time out of range',
    { mapping: { a: turn('a', null, []) }, current_node: 'a', create_time: 1e300, title: 7, id: {} },
    1,
  ],
]

for (const [name, conversation, memories] of odd)
  files(`with a conversation whose tree ${name} are harmless`, async () => {
    const { status, body } = await bring(JSON.stringify([conversation, 5, null]), '&dry_run=true')
    assert.equal([status, body.imported?.memories], [201, memories], JSON.stringify(body))
  })

const hostile: readonly (readonly [name: string, file: Buffer | string, message: RegExp])[] = [
  ['a list of something else', '[{"a":1}]', /no export of conversations that is known/],
  ['an empty list', '[]', /holds no conversation/],
  ['a list that breaks off', fixture('chatgpt.json').subarray(0, 900), /breaks off/],
  [
    'a broken second conversation',
    `${fixture('chatgpt.json').toString().trimEnd().slice(0, -1)},{"mapping":{]]`,
    /bracket|JSON/,
  ],
  ['an export that nests too deep', `[{"mapping":${'['.repeat(200)}${']'.repeat(200)}}]`, /deep|nest/],
  ['an export with a forbidden key', '[{"mapping":{"__proto__":{}}}]', /forbidden/],
  [
    'an archive with a way upwards',
    zipOf([{ name: '../conversations.json', data: Buffer.from('[]') }]),
    /with the name/,
  ],
  [
    'an archive with a wrong sum',
    zipOf([{ name: 'conversations.json', data: fixture('claude.json'), crc: 1 }]),
    /does not match/,
  ],
  [
    'an archive that is a bomb',
    zipOf([{ name: 'conversations.json', data: Buffer.from(`[${' '.repeat(3_000_000)}]`), method: 8 }]),
    /times its size/,
  ],
  ['an agent file without an agent', '{"agents":[],"blocks":[]}', /Invalid Letta agent file/],
  ['an agent file of wrong types', '{"agents":[{"name":7,"system":[]}],"blocks":{}}', /Invalid Letta agent file/],
  [
    'a picture with a card of wrong types',
    cardPng({ name: 7, description: 1, personality: 2, first_mes: 3 }),
    /Invalid character card/,
  ],
]

function cardPng(card: object): Buffer {
  return writePngTexts(plainPng(8), [{ keyword: 'chara', text: Buffer.from(JSON.stringify(card)).toString('base64') }])
}

for (const [name, file, message] of hostile)
  files(`are refused, and nothing is written, of ${name}`, async () => {
    const before = await personas()
    const { status, body } = await bring(file)
    assert.is(status, 400, JSON.stringify(body))
    assert.match([body.error, ...body.details].join('\n'), message)
    assert.is(await personas(), before)
  })

files('name every problem of an agent file at once', async () => {
  const { body } = await bring('{"agents":[{"name":7,"system":[]}],"blocks":{}}')
  assert.equal(body.details, [
    'blocks must be a list of objects',
    'name of the agent must be a text that is not empty',
    'system of the agent must be a text',
  ])
})

files('cannot replace a persona, and need one to be merged into', async () => {
  const { id } = (await ask('POST', 'personas', { name: 'Kept', model: 'm' })).body
  assert.match(
    (await bring(fixture('claude.json'), `&mode=replace&persona=${id}`)).body.error,
    /Only a package can replace/,
  )
  assert.match((await bring(fixture('claude.json'), '&mode=merge')).body.error, /Say which persona/)
})

files.whole('with a text longer than a memory are cut between words, and nothing of it is lost', async () => {
  const words = Array.from({ length: 5000 }, (_, at) => `word${at}`).join(' ')
  const { body } = await bring(JSON.stringify([{ uuid: 'c', chat_messages: [{ sender: 'human', text: words }] }]))
  const found = (await memoriesOf(body.persona_id)).flatMap(({ content }) => content.split(' '))
  assert.equal(new Set(found), new Set(words.split(' ')))
  assert.is(body.imported.memories, Math.ceil(words.length / 20_000))
})

files.run()
