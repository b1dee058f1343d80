// Some with --all only: a whole sample.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import type { FileError } from '../../../src/formats/file-error.ts'
import { container, type Document, put, resigned, signed, unzip, zipOf } from '../../helpers/personas/package-forge.ts'
import { newFolder, openShop } from '../../helpers/personas/persona-shop.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const tampering = suite('tampering with packages')

const shop = await openShop(newFolder(), { withoutChildren: true })
const persona = await shop.stock('u1', 3)
const [documentPath, containerPath] = (await Promise.all(
  (['json', 'container'] as const).map(
    async (format) => (await shop.packages.export(persona, { format, embeddings: true })).path,
  ),
)) as [string, string]
const text = readFileSync(documentPath, 'utf8')
const zip = readFileSync(containerPath)
const whole = shop.dump()
let count = 0

/** How many places of a package are passed over for each that is changed. */
const stride = isWholeRun ? 1 : 25

function file(content: string | Buffer): string {
  return put(join(shop.folder, `forged-${count++}`), content)
}

/** Verifies a package; one that is invalid must be refused by an import too. */
async function verify(content: string | Buffer, passphrase?: string) {
  const path = file(content)
  const result = await shop.packages.verify(path, passphrase)
  if (!result.valid) {
    try {
      await shop.packages.import('u2', path, { mode: 'create', dry_run: false, passphrase })
      assert.unreachable('it was imported')
    } catch (reason) {
      assert.instance(reason, AppError)
      assert.is((reason as AppError).exit, 65, String(reason))
    }
    assert.equal(shop.dump(), whole, 'something was stored')
  }
  return result
}

function changed(change: (document: Document) => void, sign: (document: Document) => string = JSON.stringify): string {
  const document = JSON.parse(text)
  change(document)
  return sign(document)
}

/** With other facts of its export, whose checksum is right. */
function described(facts: object): string {
  return changed((document) => Object.assign(document['export_metadata'], facts), signed)
}

const harmless: readonly (readonly [name: string, make: () => string | Buffer])[] = [
  ['the package as it is', () => text],
  ['white space between everything', () => JSON.stringify(JSON.parse(text), null, 3).replaceAll('\n', '\r\n\t')],
  ['keys in another order', () => JSON.stringify(backwards(JSON.parse(text)))],
  [
    'a checksum in capitals',
    () =>
      changed(
        (document) => (document['export_metadata'].checksum = document['export_metadata'].checksum.toUpperCase()),
      ),
  ],
  ['a text spelled with escapes', () => text.replace('柏林', '\\u67cf\\u6797')],
  ['a number spelled otherwise', () => text.replace('"importance_score":0.1', '"importance_score":1.00e-1')],
  [
    'the members of a container in another order, zipped by another program',
    () => zipOf([...unzip(containerPath)].reverse().map(([name, data]) => ({ name, data, method: 8 }))),
  ],
  ['a newer minor version', () => described({ version: '1.99' })],
  ['a newer major version that says it can be read', () => described({ version: '2.0', min_reader_version: '1.0' })],
  ['the first public version', () => described({ version: '1.0.0' })],
]

for (const [name, make] of harmless)
  tampering(`accepts ${name}`, async () => {
    assert.equal((await verify(make())).problems, [])
  })

type Case = readonly [name: string, make: () => string | Buffer, message: RegExp, kind?: FileError['kind']]

const found: readonly Case[] = [
  ['a changed text', () => text.replace('柏林', '柏杜'), /memories\[0\] was changed/],
  [
    'a changed digit of a vector',
    () => text.replace(/"embedding":\[(-?0\.\d\d)\d/, (_, start) => `"embedding":[${start}9`),
    /memories\[1\] was changed/,
  ],
  ['a changed key', () => text.replace('"timestamp"', '"timestamq"'), /memories\[0\].*timestamp|adaptation_log\[0\]/],
  ['a changed weight', () => text.replace(/"warmth":0\.\d/, '"warmth":0.9'), /state was changed/],
  [
    'a memory added',
    () => changed(({ memories }) => memories.push({ ...memories[0], id: 'new' })),
    /memories\[3\] was added/,
  ],
  ['a memory removed', () => changed(({ memories }) => memories.splice(1, 1)), /memories\[1\] is missing/],
  ['two memories swapped', () => changed(({ memories }) => memories.reverse()), /memories\[0\] stood at memories\[2\]/],
  [
    'two vectors swapped',
    () => changed(({ memories: [a, b] }) => ([a.embedding, b.embedding] = [b.embedding, a.embedding])),
    /memories\[0\] was changed/,
  ],
  [
    'a duplicate memory',
    () => changed(({ memories }) => memories.push(memories[0]), resigned),
    /memories\[3\] .*same id/,
  ],
  [
    'the newest record cut off',
    () => changed(({ adaptation_log: log }) => log.pop()),
    /adaptation_log\[2\] is missing/,
  ],
  [
    'the newest record cut off by a forger',
    () => changed(({ adaptation_log: log }) => log.pop(), resigned),
    /state\.\w+ differs from the state that the log gives/,
  ],
  [
    'a record in the middle cut out by a forger',
    () => changed(({ adaptation_log: log }) => log.splice(1, 1), resigned),
    /adaptation_log\[1\] .*has number 3/,
  ],
  [
    'a record changed by a forger',
    () => changed(({ adaptation_log: log }) => (log[1].inputs.signals[0].value = 'imperial'), resigned),
    /adaptation_log\[1\] .*does not match its hash/,
  ],
  [
    'a state changed by a forger',
    () => changed(({ state }) => (state.behavioral_weights.warmth = 0.9), resigned),
    /behavioral_weights differs from the state that the log gives/,
  ],
  [
    'hashes taken out of some records',
    () => changed(({ adaptation_log: log }) => delete log[0].hash, resigned),
    /hash is missing|chain for some/,
  ],
  [
    'inputs that cannot be replayed',
    () =>
      changed(({ adaptation_log: log }) => (log[0].inputs = { kind: 'signals', signals: { length: 1e9 } }), resigned),
    /inputs cannot be replayed/,
  ],
  [
    'a stripped checksum',
    () => changed((document) => delete document['export_metadata'].checksum),
    /checksum is missing/,
  ],
  [
    'a checksum of the earliest kind',
    () => changed((document) => (document['export_metadata'].checksum = 'eyJpZCI6IjEyMyIs')),
    /checksum does not match/,
  ],
  [
    'another content hash',
    () => described({ content_hash: `sha256:${'0'.repeat(64)}` }),
    /content_hash does not match/,
  ],
  ['a key given twice', () => text.replace('{"adaptation_log"', '{"state":{},"adaptation_log"'), /key "state" twice/],
  [
    'a key given twice in a memory',
    () => text.replace('"memories":[{', '"memories":[{"id":"x",'),
    /memories\[0\] cannot be read.*"id" twice/,
  ],
  [
    'a key that reaches the prototype',
    () => text.replace('"memories":[{', '"memories":[{"__proto__":{"a":1},'),
    /forbidden key/,
  ],
  [
    'the same at the top',
    () => text.replace('{"adaptation_log"', '{"__proto__":{"a":1},"adaptation_log"'),
    /forbidden key/,
  ],
  ['a lone surrogate', () => text.replace('柏林', '\\ud800'), /surrogate/],
  [
    'an integer too long',
    () => text.replace('"exported_at":', '"long":9007199254740993,"exported_at":'),
    /loses digits/,
  ],
  ['a vector beyond 32 bits', () => text.replace(/"embedding":\[[^,]*/, '"embedding":[1e39'), /no 32-bit float/],
  ['a vector of texts', () => text.replace(/"embedding":\[[^,]*/, '"embedding":["1"'), /not a list of numbers/],
  ['a package that breaks off', () => text.slice(0, -100), /not a whole JSON object/],
  ['a package twice in a row', () => text + text, /bracket too many|not JSON/],
  ['a list with an empty item', () => text.replace('"memories":[', '"memories":[,'), /memories\[0\] cannot be read/],
  [
    'deep nesting',
    () => text.replace('"metadata":{', `"metadata":{"deep":${'['.repeat(200)}${']'.repeat(200)},`),
    /deeper than 128/,
  ],
  [
    'nesting without end',
    () => text.replace('"memories":[', `"memories":[${'['.repeat(2_000_000)}`),
    /breaks off|bracket|longer than/,
  ],
  ['a part missing', () => changed((document) => delete document['memories']), /has no memories/],
  ['a part of the wrong kind', () => changed((document) => (document['state'] = [])), /state is not an object/],
  ['a memory that is none', () => changed(({ memories }) => (memories[1] = 7)), /memories\[1\] cannot be read/],
  [
    'a memory without content',
    () => changed(({ memories }) => (memories[1].content = ''), resigned),
    /memories\[1\] .*content must be/,
  ],
  [
    'an importance of 7',
    () => changed(({ memories }) => (memories[1].importance_score = 7), resigned),
    /importance_score must be/,
  ],
  ['a time that is none', () => changed(({ memories }) => (memories[1].timestamp = -1), resigned), /timestamp must be/],
  [
    'weights that are no numbers',
    () => changed(({ state }) => (state.behavioral_weights = { x: '1' }), resigned),
    /behavioral_weights must hold numbers/,
  ],
  [
    'a persona without a name',
    () => changed((document) => (document['persona'].name = ''), resigned),
    /persona: name must be/,
  ],
  ['the version 1', () => described({ version: '1' }), /invalid version: "1"/],
  ['the version 01.0', () => described({ version: '01.0' }), /invalid version: "01.0"/],
  ['an empty version', () => described({ version: '' }), /invalid version: ""/],
  ['no version', () => described({ version: undefined }), /invalid version: nothing/],
  [
    'the version 999.0',
    () => described({ version: '999.0', min_reader_version: '999.0' }),
    /version 999\.0.*update/,
    'unsupported',
  ],
  [
    'a newer major version that says nothing',
    () => described({ version: '2.0', min_reader_version: undefined }),
    /version 2\.0/,
    'unsupported',
  ],
  [
    'a feature that is unknown',
    () => described({ required_features: ['mind-reading/3'] }),
    /mind-reading/,
    'unsupported',
  ],
  ['a text file', () => 'Grüße', /^Invalid persona package: it is a text file$/, 'unsupported'],
  ['an empty file', () => '', /it is an empty file$/, 'unsupported'],
  ['a JSON list', () => '[1]', /it is a JSON list$/, 'unsupported'],
  ['a PDF document', () => '%PDF-1.7\n', /it is a PDF document$/, 'unsupported'],
  ['a JPEG picture', () => Buffer.from('ffd8ffe000104a464946', 'hex'), /it is a JPEG picture$/, 'unsupported'],
  ['an unknown file', () => Buffer.of(0, 1, 2, 254), /it is a file of an unknown format$/, 'unsupported'],
  ['an empty object', () => '{}', /it is a JSON document without export_metadata$/, 'unsupported'],
  [
    'a plugin document',
    () => '{"id":"x","name":"X","type":"chat","endpoint":"https://x.example","auth":{},"model_map":["m"]}',
    /it is a plugin document, which `aichat plugin install` takes$/,
    'unsupported',
  ],
  [
    'a part that is missing',
    () => changed((document) => delete document['memories'], signed),
    /The package has no memories/,
  ],
  ['a character card', () => '{"spec":"chara_card_v2","data":{}}', /character card/, 'unsupported'],
]

for (const [name, make, message, kind = 'damaged'] of found)
  tampering(`tells ${name}`, async () => {
    const result = await verify(make())
    assert.is(result.valid, false)
    assert.match(result.problems.join('\n'), message)
    assert.is(result.kind, kind)
  })

const members = unzip(containerPath)
const others = [...members].map(([name, data]) => ({ name, data }))
const withMember = (name: string, data: Buffer) => container(new Map([...members, [name, data]]))
const lines = members.get('memories.ndjson')!.toString().split('\n')
const vectors = members.get('vectors.f32')!

const zipped: readonly Case[] = [
  [
    'a changed line',
    () =>
      zipOf(
        others.map(({ name, data }) => ({
          name,
          data: name === 'memories.ndjson' ? Buffer.from(data.toString().replace('柏林', '柏杜')) : data,
        })),
      ),
    /memories\.ndjson differs from.*\n?.*\n?.*memories\[0\] was changed/,
  ],
  [
    'a changed vector',
    () =>
      zipOf(
        others.map(({ name, data }) => ({
          name,
          data:
            name === 'vectors.f32' ? Buffer.concat([data.subarray(0, 200), Buffer.of(7), data.subarray(201)]) : data,
        })),
      ),
    /memories\[1\] was changed/,
  ],
  [
    'a changed manifest',
    () =>
      zipOf(
        others.map(({ name, data }) => ({
          name,
          data:
            name === 'manifest.json' ? Buffer.from(data.toString().replace('"user_id":"u1"', '"user_id":"u9"')) : data,
        })),
      ),
    /checksum does not match/,
  ],
  [
    'a line that is no JSON',
    () => withMember('memories.ndjson', Buffer.from(['{"id":', ...lines.slice(1)].join('\n'))),
    /memories\[0\] cannot be read/,
  ],
  [
    'a line without end',
    () => withMember('memories.ndjson', Buffer.from(lines.join('\n').slice(0, -1))),
    /in the middle of a line/,
  ],
  [
    'a vector cut off',
    () => withMember('vectors.f32', vectors.subarray(4)),
    /memories\[2\] cannot be read: its embedding is missing/,
  ],
  [
    'a vector too many',
    () => withMember('vectors.f32', Buffer.concat([vectors, Buffer.alloc(4)])),
    /more vectors than the memories have/,
  ],
  [
    'a vector that is no number',
    () => withMember('vectors.f32', Buffer.concat([Buffer.of(0, 0, 0xc0, 0x7f), vectors.subarray(4)])),
    /not finite/,
  ],
  [
    'a vector without end',
    () =>
      withMember(
        'memories.ndjson',
        Buffer.from(lines.join('\n').replace('"embedding_length":48', '"embedding_length":1e9')),
      ),
    /embedding_length is not/,
  ],
  [
    'a member with a way out',
    () => zipOf([...others, { name: '../../evil.sh', data: Buffer.of(1) }]),
    /member with the name/,
  ],
  [
    'a member with an absolute path',
    () => zipOf([...others, { name: '/etc/passwd', data: Buffer.of(1) }]),
    /member with the name/,
  ],
  ['a member in a folder', () => zipOf([...others, { name: 'a\\b', data: Buffer.of(1) }]), /member with the name/],
  [
    'an unknown member',
    () => zipOf([...others, { name: 'run.sh', data: Buffer.of(1) }]),
    /unknown here: run\.sh/,
    'unsupported',
  ],
  ['a member twice', () => zipOf([...others, others[0]!]), /holds \S+ twice/],
  ['a member missing', () => zipOf(others.filter(({ name }) => name !== 'state.json')), /no state\.json/],
  [
    'two names for one member',
    () => zipOf(others.map((each) => ({ ...each, localName: each.name === 'state.json' ? 'statf.json' : each.name }))),
    /header of state\.json/,
  ],
  [
    'an encrypted member',
    () => zipOf(others.map((each) => ({ ...each, flags: 1 }))),
    /encrypted by zip/,
    'unsupported',
  ],
  [
    'a method that is unknown',
    () => zipOf(others.map((each) => ({ ...each, method: 12 }))),
    /method 12/,
    'unsupported',
  ],
  [
    'a wrong sum',
    () => zipOf(others.map((each) => ({ ...each, crc: 1 }))),
    /does not match the directory|do not match the directory/,
  ],
  [
    'a bomb that tells its size',
    () =>
      zipOf([
        ...others.filter(({ name }) => name !== 'memories.ndjson'),
        { name: 'memories.ndjson', data: Buffer.alloc(3_000_000), method: 8 },
      ]),
    /200 times its size/,
  ],
  [
    'a bomb that lies',
    () =>
      zipOf([
        ...others.filter(({ name }) => name !== 'memories.ndjson'),
        { name: 'memories.ndjson', data: Buffer.alloc(3_000_000), method: 8, size: 60_000 },
      ]),
    /longer than/,
  ],
  [
    'a bomb that says it is huge',
    () => zipOf(others.map((each) => ({ ...each, method: 8, size: 0xfffffff0 }))),
    /unpacks to more/,
  ],
  [
    'a zip of something else',
    () => zipOf([{ name: 'word.xml', data: Buffer.of(1) }]),
    /it is a ZIP archive without manifest\.json$/,
    'unsupported',
  ],
  ['an empty zip', () => zipOf([]), /without manifest\.json$/, 'unsupported'],
  ['a container that breaks off', () => zip.subarray(0, -30), /no end record/],
  ['a container with something behind it', () => Buffer.concat([zip, Buffer.of(1, 2, 3)]), /no end record/],
  [
    'something before it that the directory knows of',
    () => {
      const shifted = Buffer.concat([Buffer.from('PK\x03\x04'.padEnd(64)), zip])
      const end = shifted.length - 22
      const start = shifted.readUInt32LE(end + 16) + 64
      shifted.writeUInt32LE(start, end + 16)
      for (let at = start; at < end; at += 46 + shifted.readUInt16LE(at + 28))
        shifted.writeUInt32LE(shifted.readUInt32LE(at + 42) + 64, at + 42)
      return shifted
    },
    /does not match the directory|do not match the directory/,
  ],
  [
    'something between its members and its directory',
    () => {
      const end = zip.length - 22
      const start = zip.readUInt32LE(end + 16)
      const parted = Buffer.concat([zip.subarray(0, start), Buffer.from('more'), zip.subarray(start)])
      parted.writeUInt32LE(start + 4, end + 4 + 16)
      return parted
    },
    /belong to nothing/,
  ],
  [
    'another sum in a member’s own header',
    () => patched(zip.indexOf('PK\x07\x08') + 4),
    /does not match the directory|do not match the directory/,
  ],
  ['other flags in a member’s own header', () => patched(6), /does not match the directory|do not match the directory/],
  [
    'a member that is a link',
    () => {
      const linked = Buffer.from(zip)
      linked.writeUInt16LE(0o120777, linked.readUInt32LE(linked.length - 22 + 16) + 40)
      return linked
    },
    /not a plain file/,
  ],
  [
    'nothing but wrong records',
    () =>
      container(
        new Map([
          ...unzip(containerPath),
          ['memories.ndjson', Buffer.from('{}\n'.repeat(isWholeRun ? 100_000 : 20_000))],
        ]),
      ),
    /memories\[0\]: id must be/,
  ],
  ['a container with something before it', () => Buffer.concat([zip.subarray(0, 4), zip]), /not at its offset/],
]

for (const [name, make, message, kind = 'damaged'] of zipped)
  tampering(`tells in a container ${name}`, async () => {
    const result = await verify(make())
    assert.is(result.valid, false)
    assert.match(result.problems.join('\n'), message)
    assert.is(result.kind, kind)
  })

tampering('finds every flipped byte of a document', async () => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 17 * stride) {
    const copy = Buffer.from(bytes)
    copy[at] = copy[at]! ^ 1
    const result = await shop.packages.verify(put(join(shop.folder, 'flipped'), copy))
    assert.is(result.valid, false, `byte ${at}`)
  }
})

tampering.whole('finds every flipped byte of a zip that changes its contents', async () => {
  const { content_hash } = await shop.packages.verify(containerPath)
  let unread = 0
  for (let at = 0; at < zip.length; at += 3 * stride) {
    const copy = Buffer.from(zip)
    copy[at] = copy[at]! ^ 1
    const result = await shop.packages.verify(put(join(shop.folder, 'flipped'), copy))
    if (result.valid) {
      unread++
      assert.is(result.content_hash, content_hash, `byte ${at}`)
    }
  }
  // The directory also holds the writing system and the file mode of a member.
  assert.ok(unread < 40, `${unread} bytes mean nothing`)
})

tampering('finds every place where a document was cut', async () => {
  for (let end = 0; end < text.length; end += 97 * stride)
    assert.is((await shop.packages.verify(put(join(shop.folder, 'cut'), text.slice(0, end)))).valid, false, `at ${end}`)
})

tampering('leaves everything as it was after all attempts', () => {
  assert.equal(shop.dump(), whole)
  shop.close()
})

function patched(at: number): Buffer {
  const copy = Buffer.from(zip)
  copy[at] = copy[at]! ^ 1
  return copy
}

function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, backwards(inner)]),
  )
}

tampering.run()
