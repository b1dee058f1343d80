// With --all only: a neural engine.
/** Servers A and C with neural models of tiny size, through OpenAI's client library. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI, { APIError, toFile } from 'openai'
import * as assert from 'uvu/assert'
import { writeWav } from '../../../speech/audio/wav.ts'
import type { ServerId } from '../../../speech/servers/manifest.ts'
import type { ServiceOptions } from '../../../speech/service.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { openSpeech, type SpeechServer } from '../../helpers/speech/speech-server.ts'
import { suite } from '../../helpers/suite.ts'
import { makeQwenModel, type QwenSize, tinySize } from './qwen3-tts/model.ts'

const test = suite('neural voices for OpenAI’s client library')

/** The models that these tests install, by the part of their names that differs. */
const qwenModels = {
  'customvoice-1.7b': ['1.7B-CustomVoice', { kind: 'custom_voice' }],
  'voicedesign-1.7b': ['1.7B-VoiceDesign', { kind: 'voice_design' }],
  'base-0.6b': ['0.6B-Base', { kind: 'base', size: '0b6' }],
} as const satisfies Record<string, readonly [string, Partial<QwenSize>]>

interface Scene extends SpeechServer {
  readonly client: OpenAI
  /** The body of the latest refusal: the library keeps its first line alone. */
  refusal(): string
}

async function openScene(server: ServerId, options: Partial<ServiceOptions>): Promise<Scene> {
  const opened = await openSpeech(server, { cacheFolder: temporaryFolder(), ...options })
  assert.is(opened.service.health().model_loaded, true)
  let refusal = ''
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: `${opened.url}/v1`,
    maxRetries: 0,
    fetch: async (...request) => {
      const response = await fetch(...request)
      if (!response.ok) refusal = await response.clone().text()
      return response
    },
  })
  return Object.assign(opened, { client, refusal: () => refusal })
}

async function openQwen(variant: keyof typeof qwenModels): Promise<Scene> {
  const modelsFolder = temporaryFolder()
  const [name, change] = qwenModels[variant]
  await makeQwenModel(join(modelsFolder, 'Qwen', `Qwen3-TTS-12Hz-${name}`), { ...tinySize, ...change })
  return openScene('voxa-tts', { variant, modelsFolder })
}

/** A server for each model, that all tests of the model share. */
const opened = new Map<string, Promise<Scene>>()
test.after(async () => {
  for (const scene of opened.values()) await (await scene).close()
})

async function withScene(name: string, open: () => Promise<Scene>, work: (scene: Scene) => Promise<void>) {
  const scene = opened.get(name) ?? open()
  opened.set(name, scene)
  await work(await scene)
}

const withQwen = (variant: keyof typeof qwenModels, work: (scene: Scene) => Promise<void>) =>
  withScene(variant, () => openQwen(variant), work)

/** Fields of our servers beside those that the library knows. */
type More = Readonly<Record<string, unknown>>

function speak({ client }: Scene, input: string, voice = 'alloy', more: More = {}, signal?: AbortSignal) {
  return client.audio.speech.create({ model: 'tts-1', voice, input, response_format: 'wav', ...more }, { signal })
}

function design({ client }: Scene, voice_description: string): Promise<Response> {
  const body = { input: 'The other hour.', voice_description, language: 'English' }
  return client.post('/audio/voice-design', { body, __binaryResponse: true })
}

async function clone(
  { client }: Scene,
  clip: Buffer,
  fields: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ input: 'The other hour.', ...fields })) form.set(name, value)
  form.set('reference_audio', await toFile(clip, 'clip.wav'))
  return client.post('/audio/voice-clone', { body: form, __binaryResponse: true })
}

async function heard(answer: Promise<Response>): Promise<Buffer> {
  const response = await answer
  const wav = Buffer.from(await response.arrayBuffer())
  assert.match(response.headers.get('x-speech-engine') ?? '', /^(?:qwen3|kyutai)-tts$/)
  assert.is(wav.toString('latin1', 0, 4), 'RIFF')
  assert.ok(wav.length > 44)
  return wav
}

async function refused({ refusal }: Scene, answer: Promise<Response>, status: number, says: RegExp): Promise<void> {
  const thrown = await answer.then(
    (response) => assert.unreachable(`answered with ${response.status}`),
    (reason: unknown) => reason,
  )
  assert.instance(thrown, APIError)
  assert.is((thrown as APIError).status, status)
  assert.match(refusal(), says)
}

const tone = (seconds: number, rate = 8000) =>
  Float32Array.from({ length: rate * seconds }, (_, i) => Math.sin((i / rate) * 900) / 2)

/** 8-bit PCM with so many channels: one second, again and again. */
function coarseClip(seconds: number, rate: number, channels: number): Buffer {
  const wav = writeWav(new Float32Array((seconds * rate * channels) / 2), rate)
  wav.writeUInt16LE(channels, 22)
  wav.writeUInt32LE(rate * channels, 28)
  wav.writeUInt16LE(channels, 32)
  wav.writeUInt16LE(8, 34)
  const bytes = [...tone(1, rate)].flatMap((sample) => Array<number>(channels).fill(128 + Math.round(100 * sample)))
  return wav.fill(Buffer.from(bytes), 44)
}

const oneChunk = 'The other thing in another hour.'
const manySentences = `${oneChunk} `.repeat(20)

/** A request that is left at its first audio costs the engine nothing but the frame that it was at. */
async function leave(scene: Scene): Promise<void> {
  const left = new AbortController()
  const answer = await speak(scene, manySentences, 'alloy', { stream_format: 'audio' }, left.signal)
  for await (const _ of answer.body!) left.abort()
}

const residentOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Fifty requests, some left in the middle: the engine is the same process and holds no more than in the middle of them. */
async function assertFlat(scene: Scene, voices: readonly string[]): Promise<void> {
  const { pid } = scene.service
  let before = 0
  for (let round = 0; round < 50; round++) {
    if (round % 5 === 0) await leave(scene).catch(() => undefined)
    await heard(speak(scene, 'Late.', voices[round % voices.length]))
    if (round === 24 && existsSync('/proc/self/status')) before = residentOf(pid!)
  }
  assert.is(scene.service.pid, pid)
  if (before > 0) assert.ok(residentOf(pid!) < before * 1.1 + 10_000, `${residentOf(pid!)} kB, and ${before} after 25`)
}

/** An engine that is killed at the first audio costs the chunk that it was at. */
async function assertLosesOneChunk(scene: Scene): Promise<void> {
  const { pid } = scene.service
  const speech = await scene.service.speak({ input: manySentences })
  assert.ok(speech.total > 1)
  let bytes = 0
  for await (const piece of speech.pcm(true)) {
    if (bytes === 0) process.kill(pid!, 'SIGKILL')
    bytes += piece.length
  }
  assert.is(speech.spoken, speech.total - 1)
  speech.place.release()
  const next = await speak(scene, 'The hour.')
  assert.is(next.headers.get('x-speech-chunks'), '1/1')
  await next.arrayBuffer()
  assert.is.not(scene.service.pid, pid)
}

test('A: an instruction changes how a preset speaks', () =>
  withQwen('customvoice-1.7b', async (scene) => {
    const seed = 7
    const plain = await heard(speak(scene, 'The other hour.', 'ryan', { seed }))
    const told = await heard(speak(scene, 'The other hour.', 'ryan', { seed, instruct: 'slowly and sadly' }))
    assert.is.not(told.compare(plain), 0)
  }))

test('A: a described voice', () =>
  withQwen('voicedesign-1.7b', async (scene) => {
    await heard(design(scene, 'a deep, warm voice'))
    await refused(scene, design(scene, ' '), 400, /description/)
    await refused(scene, speak(scene, 'The hour.', 'ryan'), 503, /--model customvoice-1\.7b.*--model customvoice-0\.6b/)
  }))

test('A: a cloned voice, from every recording that can be heard; others are refused by name', () =>
  withQwen('base-0.6b', async (scene) => {
    const longest = coarseClip(600, 8000, 1)
    const longer = coarseClip(601, 8000, 1)
    await heard(clone(scene, writeWav(tone(4), 8000), { reference_text: 'the hour in another' }))
    await heard(clone(scene, coarseClip(4, 96_000, 2)))
    await heard(clone(scene, longest))
    await refused(scene, clone(scene, writeWav(tone(0.1), 8000)), 400, /shorter than 3 seconds.*0\.1 s/)
    await refused(scene, clone(scene, longer), 400, /longer than 10 minutes/)
    const spoken = { reference_text: 'the hour' }
    await refused(scene, clone(scene, longest, spoken), 400, /too long with a transcript.*600\.0 s/)
    for (const [name, start] of [
      ['FLAC', 'fLaC\0\0\0\x22'],
      ['MP3', 'ID3\x03'],
      ['MP3', '\xff\xfb\x90\x64'],
      ['Ogg', 'OggS'],
      ['MPEG-4', '\0\0\0\x20ftypM4A '],
    ] as const)
      await refused(
        scene,
        clone(scene, Buffer.from(start.padEnd(60, '\0'), 'latin1')),
        400,
        new RegExp(`${name}.*ffmpeg`),
      )
  }))

test('A: audio comes as it is made where it is asked for, as a file or as events', () =>
  withQwen('customvoice-1.7b', async (scene) => {
    const whole = await heard(speak(scene, oneChunk, 'ryan', { seed: 3 }))
    const streamed = await speak(scene, oneChunk, 'ryan', { seed: 3, stream_format: 'audio' })
    assert.is(streamed.headers.get('content-length'), null)
    const audio = Buffer.from(await streamed.arrayBuffer())
    assert.is(audio.subarray(44).compare(whole.subarray(44)), 0)
    const events = await speak(scene, oneChunk, 'ryan', { seed: 3, stream_format: 'sse' })
    assert.match(events.headers.get('content-type') ?? '', /^text\/event-stream/)
    const told = (await events.text()).split('\n\n').filter(Boolean)
    const parsed = told.map((line) => JSON.parse(line.replace(/^data: /, '')) as { type: string; audio?: string })
    const pieces = parsed.filter(({ type }) => type === 'speech.audio.delta').map((each) => each.audio!)
    assert.is(Buffer.concat(pieces.map((each) => Buffer.from(each, 'base64'))).compare(audio), 0)
    assert.is(parsed.at(-1)!.type, 'speech.audio.done')
    await refused(scene, speak(scene, 'The hour.', 'ryan', { stream_format: 'opus' }), 400, /stream_format/)
  }))

test('A: fifty requests and a killed engine', () =>
  withQwen('customvoice-1.7b', async (scene) => {
    await assertFlat(scene, ['ryan', 'vivian'])
    await assertLosesOneChunk(scene)
  }))

test.run()
