import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createVoiceFetcher } from '../../speech/hub-voice.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { type Answer, openStandIn } from '../helpers/providers/fake-provider.ts'
import { errorOf } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('voices of the model hub')
const path = 'owner/repository/folder/voice.wav'
const sound = 'RIFF\u0004\0\0\0WAVE'

test('a file in the models folder is used without a request', () =>
  withHub(
    (_, response) => void response.writeHead(500).end(),
    async ({ folder, fetchVoice, asked }) => {
      mkdirSync(join(folder, 'owner/repository/folder'), { recursive: true })
      writeFileSync(join(folder, path), 'mine')
      assert.is(await fetchVoice(path), join(folder, path))
      assert.equal(asked, [])
    },
  ))

test('a file of the hub is fetched once, with the token, and kept', () =>
  withHub(
    (_, response) => void response.end(sound),
    async ({ fetchVoice, asked }) => {
      for (let time = 0; time < 2; time++) assert.is(readFileSync(await fetchVoice(path), 'utf8'), sound)
      assert.equal(asked, ['/owner/repository/resolve/main/folder/voice.wav Bearer secret'])
    },
  ))

test('a redirect within the hub is followed, one to another host is refused and gets no token', () =>
  withHub(
    (request, response) => {
      if (request.url === '/moved') response.end(sound)
      else response.writeHead(302, { location: request.url.includes('away') ? 'http://127.0.0.2:9/x' : '/moved' }).end()
    },
    async ({ fetchVoice }) => {
      assert.is(readFileSync(await fetchVoice(path), 'utf8'), sound)
      const error = await errorOf(fetchVoice('owner/repository/away.wav'))
      assert.is(error.code, 'unavailable')
      assert.match(error.details.join(), /another host/)
    },
  ))

test('a missing file is not found, a refused one needs a token, a dead hub is unavailable', async () => {
  await withHub(
    (request, response) => void response.writeHead(request.url.includes('gated') ? 401 : 404).end(),
    async ({ fetchVoice }) => {
      assert.is((await errorOf(fetchVoice(path))).code, 'not_found')
      const gated = await errorOf(fetchVoice('owner/repository/gated.wav'))
      assert.equal([gated.code, /HF_TOKEN/.test(gated.details.join())], ['unavailable', true])
    },
  )
  const folder = temporaryFolder()
  const fetchVoice = createVoiceFetcher({ modelsFolder: folder, endpoint: 'http://127.0.0.1:9' })
  assert.is((await errorOf(fetchVoice(path))).code, 'unavailable')
  rmSync(folder, { recursive: true })
})

test('a file that is no voice is not kept, and is fetched again', () =>
  withHub(
    (_, response) => void response.end('<!doctype html><title>Sign in</title>'),
    async ({ folder, fetchVoice, asked }) => {
      for (const name of ['voice.wav', 'voice.safetensors']) {
        const failure = await errorOf(fetchVoice(`owner/repository/${name}`))
        assert.is(failure.code, 'unavailable')
        assert.match(failure.details.join(), /is a web page/)
        assert.equal(readdirSync(join(folder, 'owner/repository')), [])
        await errorOf(fetchVoice(`owner/repository/${name}`))
      }
      assert.is(asked.length, 4)
    },
  ))

test('the token is not sent where it could be read on the way', async () => {
  const folder = temporaryFolder()
  const fetchVoice = createVoiceFetcher({ modelsFolder: folder, endpoint: 'http://hub.example', token: 'secret' })
  const failure = await errorOf(fetchVoice(path))
  assert.equal([failure.code, /would travel unencrypted/.test(failure.message)], ['configuration', true])
  rmSync(folder, { recursive: true })
})

interface Hub {
  readonly folder: string
  readonly fetchVoice: ReturnType<typeof createVoiceFetcher>
  readonly asked: readonly string[]
}

async function withHub(answer: Answer, work: (hub: Hub) => Promise<void>): Promise<void> {
  const folder = temporaryFolder()
  const asked: string[] = []
  await using server = await openStandIn((request, response) => {
    if (request.url !== '/moved') asked.push(`${request.url} ${request.headers.authorization ?? ''}`)
    return answer(request, response)
  })
  const fetchVoice = createVoiceFetcher({ modelsFolder: folder, endpoint: `${server.url}/`, token: 'secret' })
  await work({ folder, fetchVoice, asked })
}

test.run()
