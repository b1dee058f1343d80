// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { openHttpClient } from '../../src/http-client/agent.ts'
import { type Hub, type HubParts, openHub } from '../../src/model-hub/hub.ts'
import { type KnownModel, knownModels } from '../../src/model-hub/known-models.ts'
import type { PullProgress } from '../../src/model-hub/pull.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { pluck } from '../helpers/pluck.ts'
import { fc } from '../helpers/properties.ts'
import { gitBlob, type LoopbackHub, onnxOf, openLoopbackHub, sha256 } from '../helpers/providers/loopback-hub.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the model hub')

const revision = 'a'.repeat(40)
const weights = onnxOf(300_000)
const config = Buffer.from('{"hidden_size":8}')

interface Scene {
  readonly loopback: LoopbackHub
  readonly folder: string
  readonly hub: Hub
  open(parts?: Partial<HubParts>): Hub
  path(name: string): string
}

const tiny: KnownModel = {
  name: 'tiny',
  kind: 'chat',
  licence: 'MIT',
  summary: 'a test model',
  editions: [
    {
      folder: 'acme/tiny',
      files: [
        { repository: 'acme/tiny', revision, path: 'config.json', as: 'config.json' },
        { repository: 'acme/tiny', revision, path: 'onnx/model.onnx', as: 'onnx/model.onnx' },
      ],
    },
  ],
}

const pinned = (hex: string, bytes?: number): KnownModel => ({
  ...tiny,
  editions: [
    {
      folder: 'acme/tiny',
      files: [
        {
          repository: 'acme/tiny',
          revision,
          path: 'onnx/model.onnx',
          as: 'onnx/model.onnx',
          sha256: hex,
          ...(bytes !== undefined && { bytes }),
        },
      ],
    },
  ],
})

const gated: KnownModel = {
  ...tiny,
  editions: [
    { folder: 'acme/gated', gated: true, files: [{ repository: 'acme/gated', revision, path: 'w.bin', as: 'w.bin' }] },
  ],
}

async function scene(run: (scene: Scene) => Promise<void>): Promise<void> {
  await using loopback = closing(await openLoopbackHub())
  const folder = temporaryFolder()
  await using outbound = closing(openHttpClient({ allowPrivate: true, longestBody: Number.MAX_SAFE_INTEGER }))
  loopback.files.set(`acme/tiny@${revision}/config.json`, { content: config })
  loopback.files.set(`acme/tiny@${revision}/onnx/model.onnx`, { content: weights, large: true })
  const open = (parts: Partial<HubParts> = {}) =>
    openHub({
      modelsFolder: folder,
      known: new Map([['tiny', tiny]]),
      endpoint: loopback.endpoint,
      token: undefined,
      send: outbound.send,
      sleep: () => delay(1),
      ...parts,
    })
  await run({ loopback, folder, hub: open(), open, path: (name) => join(folder, 'acme/tiny', name) })
}

const known = (model: KnownModel) => ({ known: new Map([[model.name, model]]) })

async function failure(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise
  } catch (reason) {
    return reason as AppError
  }
  throw new Error('it did not fail')
}

const partsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.part'))

test('a pull brings every file to its place and records its hash', () =>
  scene(async ({ hub, folder, path, loopback }) => {
    const seen: PullProgress[] = []
    const pulled = await hub.pull('tiny', { onProgress: (progress) => seen.push(progress) })
    assert.equal(pulled, {
      name: 'tiny',
      folder: join(folder, 'acme/tiny'),
      bytes: 300_017,
      downloaded: 300_017,
      unpinned: ['config.json', 'onnx/model.onnx'],
      notes: [
        "nothing of tiny was checked against a published SHA-256, since none is known; it matches the hub's own digest",
        'its hash is recorded, and every later pull on this machine must find the same',
      ],
    })
    assert.equal(readFileSync(path('onnx/model.onnx')), weights)
    assert.equal(readFileSync(path('config.json')), config)
    const record = JSON.parse(readFileSync(join(folder, 'tiny.json'), 'utf8'))
    assert.equal(pluck(record.files, 'sha256'), [sha256(config), sha256(weights)])
    assert.equal(hub.installed('chat'), [
      {
        name: 'tiny',
        kind: 'chat',
        folder: join(folder, 'acme/tiny'),
        bytes: 300_017,
        verified: true,
        fingerprint: hub.find('tiny')!.fingerprint,
      },
    ])
    assert.match(hub.find('tiny')!.fingerprint, /^[0-9a-f]{16}$/)
    assert.equal(hub.installed('embedding'), [])
    assert.equal([seen.at(-1)!.received, seen.at(-1)!.total], [300_017, 300_017])
    assert.ok(loopback.hub.received.every(({ url }) => url.includes(`/resolve/${revision}/`)))
    assert.equal(partsIn(folder), [])
  }))

test('a second pull verifies the files and fetches nothing', () =>
  scene(async ({ hub, loopback }) => {
    await hub.pull('tiny')
    const asked = loopback.hub.received.length + loopback.store.received.length
    assert.is((await hub.pull('tiny')).downloaded, 0)
    assert.is(loopback.hub.received.length + loopback.store.received.length, asked)
  }))

test('a file that was damaged on the disk is fetched anew', () =>
  scene(async ({ hub, path }) => {
    await hub.pull('tiny')
    const damaged = Buffer.from(weights)
    damaged[1000]! ^= 1
    writeFileSync(path('onnx/model.onnx'), damaged)
    assert.is((await hub.pull('tiny')).downloaded, weights.length)
    assert.equal(readFileSync(path('onnx/model.onnx')), weights)
  }))

test('the hash of a first pull is a pin: the same commit must give the same content', () =>
  scene(async ({ hub, loopback, path }) => {
    await hub.pull('tiny')
    rmSync(path('onnx/model.onnx'))
    loopback.files.set(`acme/tiny@${revision}/onnx/model.onnx`, { content: onnxOf(300_000), large: true })
    const error = await failure(hub.pull('tiny'))
    assert.is(error.code, 'invalid')
    assert.match(error.message, /not the pinned file/)
    assert.not.ok(existsSync(path('onnx/model.onnx')))
    assert.is(hub.find('tiny'), undefined)
  }))

test('connections that are cut at random bytes: the file comes whole, each byte once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 120_000 }), { minLength: 1, maxLength: 4 }), async (cuts) => {
      await scene(async ({ hub, loopback, path }) => {
        const left = [...cuts]
        const ranges: string[] = []
        loopback.intercept = (request, response, at) => {
          if (at !== 'store') return false
          ranges.push(request.headers.range ?? '')
          const cut = left.shift()
          if (cut === undefined) return false
          const from = Number(/\d+/.exec(request.headers.range ?? '0')![0])
          response.writeHead(from > 0 ? 206 : 200, {
            'content-length': String(weights.length - from),
            ...(from > 0 && { 'content-range': `bytes ${from}-${weights.length - 1}/${weights.length}` }),
          })
          // The written bytes are on their way before the connection is cut.
          response.write(weights.subarray(from, Math.min(from + cut, weights.length - 1)), () => response.destroy())
          return true
        }
        await hub.pull('tiny')
        assert.equal(readFileSync(path('onnx/model.onnx')), weights)
        assert.is(ranges.length, cuts.length + 1)
        // After a cut the rest is asked for, not the whole.
        for (const range of ranges.slice(1)) assert.match(range, /^bytes=[1-9]\d*-$/)
      })
    }),
    { numRuns: 12 },
  )
})

test('a pull that was stopped is taken up where it ended, also by another process', () =>
  scene(async ({ loopback, open, folder, path }) => {
    const stop = new AbortController()
    loopback.intercept = (_, response, at) => {
      if (at !== 'store') return false
      response.writeHead(200, { 'content-length': String(weights.length) })
      response.write(weights.subarray(0, 100_000))
      return true
    }
    const onProgress = ({ received }: PullProgress) => {
      if (received >= 100_000) stop.abort(new Error('stopped by the test'))
    }
    const error = await failure(open().pull('tiny', { signal: stop.signal, onProgress }))
    assert.is(error.message, 'stopped by the test')
    assert.is(partsIn(folder).length, 1)
    loopback.intercept = undefined
    loopback.store.received.length = 0
    await open().pull('tiny')
    assert.is(loopback.store.received[0]!.headers.range, 'bytes=100000-')
    assert.equal(readFileSync(path('onnx/model.onnx')), weights)
  }))

test('a server without ranges sends all again, and the bytes that are here are skipped', () =>
  scene(async ({ loopback, hub, path }) => {
    loopback.ranges = false
    let cut = true
    loopback.intercept = (_, response, at) => {
      if (at !== 'store' || !cut) return false
      cut = false
      response.writeHead(200, { 'content-length': String(weights.length) })
      response.write(weights.subarray(0, 70_000), () => response.destroy())
      return true
    }
    await hub.pull('tiny')
    assert.equal(readFileSync(path('onnx/model.onnx')), weights)
  }))

test('a part left by a crash with a hole in it is found out and fetched from the beginning', () =>
  scene(async ({ hub, path, folder }) => {
    mkdirSync(dirname(path('onnx/model.onnx')), { recursive: true })
    writeFileSync(`${path('onnx/model.onnx')}.${sha256(weights).slice(0, 16)}.part`, Buffer.alloc(200_000))
    await hub.pull('tiny')
    assert.equal(readFileSync(path('onnx/model.onnx')), weights)
    assert.equal(partsIn(folder), [])
  }))

test.whole('a file without the format of its name is never kept, though the hub vouches for it', async () => {
  const page = Buffer.from(`<!DOCTYPE html><title>Sign in</title>${'x'.repeat(500)}`)
  const header = (value: unknown) => {
    const text = Buffer.from(JSON.stringify(value))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(text.length))
    return Buffer.concat([length, text])
  }
  const tensors = header({ w: { dtype: 'F32', shape: [2], data_offsets: [0, 8] }, __metadata__: { format: 'pt' } })
  const wrong: readonly (readonly [string, Buffer, RegExp])[] = [
    ['onnx/model.onnx', page, /is a web page/],
    ['model.safetensors', page, /is a web page/],
    ['w.bin', Buffer.from('\n <html>'), /is a web page/],
    ['onnx/model.onnx', Buffer.from('Entry not found'), /is not an ONNX model/],
    ['onnx/model.onnx', Buffer.alloc(0), /is not an ONNX model/],
    ['tokenizer.json', Buffer.from('"not found"'), /is not a JSON object/],
    ['tokenizer.model', Buffer.from('Entry not found'), /is not a SentencePiece model/],
    ['model.safetensors', Buffer.from('Entry not found'), /is not a safetensors file/],
    ['model.gguf', Buffer.from('GGUF, a format for models'), /is not a GGUF model/],
  ]
  const right: readonly (readonly [string, Buffer])[] = [
    ['model.safetensors', Buffer.concat([tensors, Buffer.alloc(8)])],
    ['model.safetensors', header({})],
    ['tokenizer.model', Buffer.from([0x0a, 2, 0x0a, 0, 0x12, 0])],
    ['model.gguf', Buffer.concat([Buffer.from('GGUF\x03\0\0\0'), Buffer.alloc(24)])],
    ['tokenizer.json', Buffer.from('{"version":"1.0"}')],
  ]
  const pulling = (path: string, content: Buffer, large: boolean) =>
    scene(async ({ loopback, open, folder }) => {
      const files = [{ repository: 'acme/tiny', revision, path, as: path }]
      loopback.files.set(`acme/tiny@${revision}/${path}`, { content, large })
      const hub = open(known({ ...tiny, editions: [{ folder: 'acme/tiny', files }] }))
      const reason = wrong.find(([, each]) => each === content)?.[2]
      if (!reason) return void (await hub.pull('tiny'))
      const error = await failure(hub.pull('tiny'))
      assert.equal([error.code, error.exit, error.status], ['invalid', 65, 400], path)
      assert.match(error.message, reason)
      assert.is(hub.find('tiny'), undefined)
      assert.equal(
        readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
        [],
        path,
      )
    })
  for (const [path, content] of [...wrong, ...right])
    for (const large of [false, true]) await pulling(path, content, large)
})

test('a pull names the files without a published digest, and none where all have one', () =>
  scene(async ({ open }) => {
    const { notes, unpinned } = await open(known(pinned(sha256(weights), weights.length))).pull('tiny')
    assert.equal({ notes, unpinned }, { notes: [], unpinned: [] })
    for (const model of knownModels.values())
      for (const { files } of model.editions)
        for (const { sha256: digest } of files) assert.ok(digest === undefined || /^[0-9a-f]{64}$/.test(digest))
  }))

test('a hub that stays away is given up after some tries, and the part is kept', () =>
  scene(async ({ loopback, hub, folder }) => {
    loopback.intercept = (_, response, at) => {
      if (at !== 'store') return false
      response.writeHead(503)
      response.end()
      return true
    }
    const error = await failure(hub.pull('tiny'))
    assert.is(error.code, 'unavailable')
    assert.match(error.details.join(), /pull again/)
    assert.is(loopback.store.received.length, 5)
    assert.is(hub.find('tiny'), undefined)
    assert.is(partsIn(folder).length, 1)
  }))

test('a wrong SHA-256 is told before the bytes are taken, and nothing is installed', () =>
  scene(async ({ loopback, open, path }) => {
    const hub = open(known(pinned('b'.repeat(64), weights.length)))
    const error = await failure(hub.pull('tiny'))
    assert.is(error.code, 'invalid')
    assert.match(error.details.join(), new RegExp(`SHA-256 ${'b'.repeat(64)}`))
    assert.not.ok(existsSync(path('onnx/model.onnx')))
    assert.ok(loopback.store.received.length <= 1)
  }))

test('content that does not match the digest of the hub is refused', () =>
  scene(async ({ loopback, hub, folder, path }) => {
    loopback.intercept = (_, response, at) => {
      if (at !== 'store') return false
      response.writeHead(200, { 'content-length': String(weights.length) })
      response.end(randomBytes(weights.length))
      return true
    }
    const error = await failure(hub.pull('tiny'))
    assert.equal([error.code, error.exit], ['invalid', 65])
    assert.not.ok(existsSync(path('onnx/model.onnx')))
    assert.equal(partsIn(folder), [])
  }))

test('a small file is held to the id that git gives its content', () =>
  scene(async ({ loopback, hub }) => {
    loopback.intercept = (request, response, at) => {
      if (at !== 'hub' || !request.url.endsWith('config.json')) return false
      response.writeHead(200, { 'content-length': '17', etag: `"${gitBlob(config)}"` })
      response.end('{"hidden_size":9}')
      return true
    }
    assert.match((await failure(hub.pull('tiny'))).message, /config.json from the model hub is not the pinned file/)
  }))

test('more bytes than were announced are refused', () =>
  scene(async ({ loopback, hub, folder }) => {
    loopback.intercept = (_, response, at) => {
      if (at !== 'store') return false
      response.writeHead(200)
      response.end(Buffer.concat([weights, weights]))
      return true
    }
    assert.is((await failure(hub.pull('tiny'))).code, 'invalid')
    assert.not.ok(partsIn(folder).some((name) => statSync(join(folder, name)).size > weights.length))
  }))

test('a hub without a digest for a file is not trusted', () =>
  scene(async ({ loopback, hub }) => {
    loopback.intercept = (request, response) => {
      if (!request.url.endsWith('config.json')) return false
      response.writeHead(200, { 'content-length': '17' })
      response.end(config)
      return true
    }
    assert.match((await failure(hub.pull('tiny'))).message, /gives no length or digest/)
  }))

test('the token goes to the hub and never to the host that the bytes come from', () =>
  scene(async ({ loopback, open }) => {
    await open({ token: 'hf_secret' }).pull('tiny')
    assert.ok(loopback.hub.received.every(({ headers }) => headers.authorization === 'Bearer hf_secret'))
    assert.ok(loopback.store.received.length > 0)
    assert.ok(loopback.store.received.every(({ headers }) => headers.authorization === undefined))
  }))

test('a token does not travel unencrypted', () =>
  scene(async ({ open }) => {
    const error = await failure(open({ endpoint: 'http://hub.example', token: 'hf_secret' }).pull('tiny'))
    assert.is(error.code, 'configuration')
  }))

for (const [status, code] of [
  [401, 'GatedRepo'],
  [403, 'GatedRepo'],
  [401, ''],
] as const) {
  test(`a gated model (${status} ${code}) names the licence page to accept`, () =>
    scene(async ({ loopback, open }) => {
      loopback.intercept = (_, response) => {
        response.writeHead(status, { 'x-error-code': code })
        response.end()
        return true
      }
      const error = await failure(open(known(gated)).pull('tiny'))
      assert.is(error.code, 'forbidden')
      assert.match(error.details.join(), new RegExp(`accept its licence at ${loopback.endpoint}/acme/gated`))
      assert.match(error.details.join(), /HF_TOKEN/)
    }))
}

test('where the gated edition is refused the open one is installed, with a note', () =>
  scene(async ({ loopback, open }) => {
    const model = { ...tiny, editions: [...gated.editions, ...tiny.editions] }
    loopback.intercept = (request, response) => {
      if (!request.url.includes('/acme/gated/')) return false
      response.writeHead(403, { 'x-error-code': 'GatedRepo' })
      response.end()
      return true
    }
    const pulled = await open({ ...known(model), token: 'hf_x' }).pull('tiny')
    assert.match(pulled.notes.join(), /open edition is installed instead.*accept its licence/)
    const without = loopback.hub.received.length
    await open(known(model)).pull('tiny')
    assert.not.ok(loopback.hub.received.slice(without).some(({ url }) => url.includes('gated')))
  }))

test('a file that is not there is named', () =>
  scene(async ({ loopback, hub }) => {
    loopback.files.delete(`acme/tiny@${revision}/onnx/model.onnx`)
    const error = await failure(hub.pull('tiny'))
    assert.is(error.code, 'not_found')
    assert.match(error.message, /no onnx\/model.onnx of acme\/tiny/)
  }))

test('an unknown name lists the known ones', () =>
  scene(async ({ hub }) => {
    const error = await failure(hub.pull('nothing'))
    assert.equal([error.code, error.details], ['not_found', ['tiny: a test model']])
  }))

test('without room nothing is fetched', () =>
  scene(async ({ loopback, open }) => {
    const error = await failure(open({ freeBytes: async () => 32 * 1024 * 1024 + 300_016 }).pull('tiny'))
    assert.is(error.exit, 74)
    assert.match(error.details.join(), /AICHAT_MODELS_DIR/)
    assert.is(loopback.store.received.length, 0)
    await open({ freeBytes: async () => 32 * 1024 * 1024 + 300_017 }).pull('tiny')
  }))

// The device that is always full (full(4)) is the disk.
const fullTest = existsSync('/dev/full') ? test : test.skip
fullTest('a disk that fills up while the file comes is reported, and nothing is installed', () =>
  scene(async ({ hub, path }) => {
    mkdirSync(dirname(path('onnx/model.onnx')), { recursive: true })
    symlinkSync('/dev/full', `${path('onnx/model.onnx')}.${sha256(weights).slice(0, 16)}.part`)
    const error = await failure(hub.pull('tiny'))
    assert.equal([error.code, error.message], ['io', 'The disk is full'])
    assert.is(hub.find('tiny'), undefined)
  }),
)

test('of two pulls in one process the second waits and finds all there', () =>
  scene(async ({ hub, loopback }) => {
    const waited: boolean[] = []
    const [first, second] = await Promise.all([hub.pull('tiny'), hub.pull('tiny', { onWait: () => waited.push(true) })])
    assert.equal(second, { ...first, downloaded: 0 })
    assert.is(loopback.store.received.length, 1)
    assert.equal(waited, [true])
  }))

test('where the one that fetches leaves, the one that waits goes on with what is here', () =>
  scene(async ({ hub, loopback }) => {
    const stop = new AbortController()
    loopback.intercept = (_, response, at) => {
      if (at !== 'store') return false
      loopback.intercept = undefined
      response.writeHead(200, { 'content-length': String(weights.length) })
      response.write(weights.subarray(0, 50_000))
      return true
    }
    const onProgress = ({ received }: { received: number }) => received >= 50_000 && stop.abort(new Error('left'))
    const leaving = failure(hub.pull('tiny', { signal: stop.signal, onProgress }))
    const staying = hub.pull('tiny')
    assert.is((await leaving).message, 'left')
    await staying
    assert.ok(hub.find('tiny')?.verified)
  }))

test.whole('two processes that pull the same model share the work', () =>
  scene(async ({ loopback, folder }) => {
    const self = import.meta.url
    const loader = self.endsWith('.ts') ? ['--import', 'tsx'] : []
    const script = new URL(self.endsWith('.ts') ? './pull-child.ts' : './pull-child.js', self)
    const children = [1, 2].map(() =>
      spawn(process.execPath, [...loader, script.pathname, loopback.endpoint, folder, revision], { stdio: 'inherit' }),
    )
    const codes = await Promise.all(children.map(async (child) => ((await once(child, 'close')) as [number])[0]))
    assert.equal(codes, [0, 0])
    // One fetches it; the other waits and finds it there.
    assert.is(loopback.store.received.length, 1)
    assert.equal(readFileSync(join(folder, 'acme/tiny/onnx/model.onnx')), weights)
  }),
)

test('the lock of a process that died is taken over', () =>
  scene(async ({ hub, folder }) => {
    const gone = spawn(process.execPath, ['-e', ''])
    await once(gone, 'close')
    writeFileSync(
      join(folder, '.tiny.lock'),
      JSON.stringify({ pid: gone.pid, host: (await import('node:os')).hostname() }),
    )
    await hub.pull('tiny')
    assert.not.ok(existsSync(join(folder, '.tiny.lock')))
  }))

test('files put into the folder by hand are found, and are not called verified', () =>
  scene(async ({ hub, path, loopback }) => {
    mkdirSync(dirname(path('onnx/model.onnx')), { recursive: true })
    writeFileSync(path('onnx/model.onnx'), weights)
    assert.is(hub.find('tiny'), undefined)
    writeFileSync(path('config.json'), config)
    assert.is(hub.find('tiny')?.verified, false)
    assert.is((await hub.pull('tiny')).downloaded, 0)
    assert.is(hub.find('tiny')?.verified, true)
    assert.is(loopback.store.received.length, 0)
  }))

test('remove takes the files, the record, unfinished parts and empty folders', () =>
  scene(async ({ hub, folder, path }) => {
    await hub.pull('tiny')
    writeFileSync(`${path('config.json')}.0123456789abcdef.part`, 'left')
    assert.equal(await hub.remove('tiny'), { name: 'tiny', removed: true, bytes: 300_021 })
    assert.equal(readdirSync(folder), [])
    const { code, details } = await failure(hub.remove('tiny'))
    assert.equal([code, details], ['not_found', ['No model has been pulled to this machine']])
  }))

test('every known model pins its revision, and names stay inside their folder', () => {
  for (const { name, editions } of knownModels.values()) {
    assert.match(name, /^[a-z0-9][a-z0-9.-]*$/)
    for (const { folder, files } of editions) {
      assert.not.match(folder, /\.\.|^\//)
      for (const file of files) {
        assert.match(file.revision, /^[0-9a-f]{40}$/)
        assert.not.match(file.as, /\.\.|^\//)
        if (file.sha256) assert.match(file.sha256, /^[0-9a-f]{64}$/)
      }
    }
  }
})

test.run()
