// With --all only: a neural engine.
/** `aichat models pull voxb-tts` from a hub on loopback, and server B on the pulled files. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { writeWav } from '../../../../speech/audio/wav.ts'
import { openSpeechService } from '../../../../speech/service.ts'
import type { AppError } from '../../../../src/errors.ts'
import { type KnownFile, knownModels } from '../../../../src/model-hub/known-models.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { aichatCommand, type Home } from '../../../helpers/program/command.ts'
import { openFastHome } from '../../../helpers/program/terminal.ts'
import { type LoopbackHub, openLoopbackHub } from '../../../helpers/providers/loopback-hub.ts'
import { suite } from '../../../helpers/suite.ts'
import { makePocketModel, type PocketSize, tinySize } from './model.ts'

const test = suite('pulling pocket-tts')

const editions = knownModels.get('voxb-tts')!.editions
const [gated = '', open = ''] = editions.map(({ folder }) => folder)

/** Tiny, and nothing else unlike the published folder: six layers, no configuration. Its speech ends at once. */
const { configuration: _, ...unconfigured } = tinySize
const size: PocketSize = { ...unconfigured, layers: 6, endBias: 100 }

/** The folders of both editions. */
const published = await Promise.all(
  (['random', 'zeros'] as const).map(async (encoder) => {
    const folder = temporaryFolder()
    await makePocketModel(folder, { ...size, encoder })
    return folder
  }),
)

/** A hub with both editions; the gated one needs a token. */
async function openPocketHub(): Promise<LoopbackHub> {
  const hub = await openLoopbackHub()
  for (const [index, folder] of published.entries())
    for (const file of editions[index]!.files) {
      const local = file.as.startsWith('embeddings/') ? 'embeddings/alba.safetensors' : file.as
      hub.files.set(nameOf(file), { content: readFileSync(join(folder, local)), large: file.as !== 'tokenizer.model' })
    }
  hub.intercept = (request, response, at) => {
    if (at === 'store' || !request.url.startsWith('/kyutai/pocket-tts/') || request.headers['authorization'])
      return false
    response.writeHead(401, { 'x-error-code': 'GatedRepo' }).end()
    return true
  }
  return hub
}

const nameOf = ({ repository, revision, path }: KnownFile) => `${repository}@${revision}/${path}`

async function withHub(
  work: (scene: { readonly hub: LoopbackHub; readonly home: Home; voices(edition: string): string[] }) => Promise<void>,
): Promise<void> {
  const hub = await openPocketHub()
  const models = temporaryFolder()
  const home = openFastHome({ HF_ENDPOINT: hub.endpoint, AICHAT_MODELS_DIR: models })
  const voices = (edition: string) => readdirSync(join(models, edition, 'embeddings')).sort()
  try {
    await work({ hub, home: { ...home, folder: models }, voices })
  } finally {
    home.remove()
    await hub.close()
  }
}

type Asked = { readonly voice?: string; readonly clip?: Uint8Array }

/** Speaks with server B: for each request the bytes of audio, or the failure. */
async function ask(modelsFolder: string, ...requests: readonly Asked[]): Promise<(number | AppError)[]> {
  await using service = closing(
    openSpeechService({ server: 'voxb-tts', modelsFolder, hubEndpoint: 'http://127.0.0.1:9' }),
  )
  const answerTo = async ({ voice, clip }: Asked) => {
    const recording = clip && { kind: 'recording' as const, wav: clip }
    const speech = await service.speak({ input: 'The fox jumps.', voice: recording ?? voice })
    assert.is(speech.engine, 'pocket-tts')
    let bytes = 0
    for await (const piece of speech.pcm(false)) bytes += piece.length
    speech.place.release()
    return bytes
  }
  const answers: (number | AppError)[] = []
  for (const request of requests) answers.push(await answerTo(request).catch((thrown: AppError) => thrown))
  return answers
}

test('a script gets the model without the voices for non-commercial use, is told so, and gets them with a flag', () =>
  withHub(async ({ home, voices }) => {
    const pulled = await home.aichat(['models', 'pull', 'voxb-tts'])
    assert.is(pulled.code, 0, pulled.stderr)
    assert.match(pulled.stderr, /left out.*non-commercial purposes only \(CC-BY-NC-4\.0\): cosette, jean/)
    assert.match(pulled.stderr, 'aichat models pull voxb-tts --non-commercial')
    assert.match(pulled.stderr, /the licence of voxb-tts is CC-BY-4\.0/)
    assert.equal(
      voices(open),
      ['alba', 'azelma', 'eponine', 'fantine', 'javert', 'marius'].map((name) => `${name}.safetensors`),
    )
    assert.not.ok(existsSync(join(home.folder, gated)), 'without a token the gated edition is not asked for')
    assert.match((await home.aichat(['models', 'list', '--installed'])).stdout, /voxb-tts +\S* +tts/)

    const [spoken, refusal] = await ask(home.folder, { voice: 'alba' }, { voice: 'cosette' })
    assert.ok(Number(spoken) > 0)
    const refused = refusal as AppError
    assert.is(refused.code, 'not_found')
    assert.match(refused.details.join('\n'), /CC-BY-NC-4\.0.*--non-commercial/)

    const more = await home.aichat(['models', 'pull', 'voxb-tts', '--non-commercial', '--json'])
    assert.is(more.code, 0, more.stderr)
    assert.match(JSON.parse(more.stdout).notes[0], /^nothing of voxb-tts was checked against a published SHA-256/)
    assert.match(more.stderr, /aichat: nothing of voxb-tts was checked against a published SHA-256/)
    assert.not.match(JSON.parse(more.stdout).notes.join(), /left out/)
    assert.is(voices(open).length, 8)
    assert.ok(Number((await ask(home.folder, { voice: 'fable' }))[0]) > 0)

    const again = await home.aichat(['models', 'pull', 'voxb-tts', '--json'])
    assert.equal([JSON.parse(again.stdout).downloaded, /left out/.test(again.stdout)], [0, false])
    assert.is(voices(open).length, 8, 'what was agreed to stays')
  }))

test('with a token the edition that clones comes; where it is refused the open one comes, and both are said', () =>
  withHub(async ({ hub, home }) => {
    const clip = writeWav(
      Float32Array.from({ length: 8000 }, (_, i) => Math.sin(i / 9) / 2),
      8000,
    )
    const environment = { HF_TOKEN: 'hf_x' }
    const { intercept } = hub
    hub.intercept = (request, response, at) => {
      if (at === 'store' || !request.url.startsWith('/kyutai/pocket-tts/')) return false
      response.writeHead(403, { 'x-error-code': 'GatedRepo' }).end()
      return true
    }
    const refused = await home.aichat(['models', 'pull', 'voxb-tts'], { environment })
    assert.is(refused.code, 0, refused.stderr)
    assert.match(refused.stderr, /open edition is installed instead/)
    assert.match(refused.stderr, /accept its licence at .*\/kyutai\/pocket-tts/)
    const cannot = (await ask(home.folder, { clip }))[0] as AppError
    assert.is(cannot.code, 'unavailable')
    assert.match(cannot.details.join('\n'), 'HF_TOKEN')

    hub.intercept = intercept
    const pulled = await home.aichat(['models', 'pull', 'voxb-tts'], { environment })
    assert.is(pulled.code, 0, pulled.stderr)
    assert.ok(existsSync(join(home.folder, gated, 'model.safetensors')))
    assert.ok(Number((await ask(home.folder, { clip }))[0]) > 0)
  }))

/** util-linux's `script` gives a command a terminal of its own. */
const withTerminal = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0 ? test : test.skip

withTerminal('at a terminal the licence is asked about once', () =>
  withHub(async ({ hub, home, voices }) => {
    const pull = async (answer: string) => {
      const command = [...aichatCommand, 'models', 'pull', 'voxb-tts'].map((word) => `'${word}'`).join(' ')
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        env: {
          PATH: process.env['PATH'],
          HOME: home.folder,
          AICHAT_HOME: home.folder,
          AICHAT_MODELS_DIR: home.folder,
          HF_ENDPOINT: hub.endpoint,
          TERM: 'xterm',
        },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      let shown = ''
      let answered = false
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text
        if (answered || !shown.includes('Pull that too?')) return
        answered = true
        child.stdin.write(`${answer}\r`)
      })
      const [code] = (await once(child, 'close')) as [number | null]
      assert.is(code, 0, shown)
      return answered
    }
    assert.is(await pull('n'), true)
    assert.is(voices(open).length, 6)
    assert.is(await pull('y'), false, 'the answer is kept')
    assert.is(voices(open).length, 6)
    await home.aichat(['models', 'remove', 'voxb-tts'])
    assert.is(await pull('y'), true)
    assert.is(voices(open).length, 8)
  }),
)

test('every language can be pulled, with the voice that speaks it best', () => {
  const names = [...knownModels.values()]
    .filter(({ editions }) => editions[0]!.folder.includes('/pocket-tts'))
    .map(({ name }) => name)
  for (const language of ['german', 'french', 'italian', 'portuguese', 'spanish', 'dutch'])
    assert.ok(names.includes(`voxb-tts-${language}`), language)
  for (const name of names)
    for (const { files } of knownModels.get(name)!.editions) {
      const restricted = files.filter((file) => file.nonCommercial)
      assert.equal(
        restricted.map(({ as }) => as).sort(),
        ['cosette', 'jean'].map((voice) => `embeddings/${voice}.safetensors`),
      )
      assert.ok(files.filter(({ as }) => as.startsWith('embeddings/')).length >= 8)
    }
})

test.run()
