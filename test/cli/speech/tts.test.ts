// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWav, writeWav } from '../../../speech/audio/wav.ts'
import { serverIds } from '../../../speech/servers/manifest.ts'
import { openApp } from '../../../src/app/compose.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { aichatCommand, type RunOptions } from '../../helpers/program/command.ts'
import { openFastHome, runMain } from '../../helpers/program/terminal.ts'
import { openSpeech, type SpeechServer } from '../../helpers/speech/speech-server.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat tts')
const home = openFastHome()
test.after(() => home.remove())

/** Runs the command in this process: starting one each time would take most of the time. */
const aichat = (words: readonly string[], { environment = {}, ...options }: RunOptions = {}) =>
  runMain(words, { ...options, environment: { AICHAT_HOME: home.folder, HOME: home.folder, ...environment } })

/** Where it does not matter who speaks, a server does: an engine for each command would take most of the time. */
let server: SpeechServer
test.before(async () => {
  server = await openSpeech('voxb-tts')
})
test.after(() => server.close())
const served = (words: readonly string[], options?: RunOptions) => aichat([...words, '--server', server.url], options)

/** Plugins with unreachable servers: where none is named, the command speaks by itself. */
test.before(async () => {
  const app = await openApp(readSettings({ AICHAT_HOME: home.folder, HOME: home.folder }))
  for (const id of serverIds) {
    const document = JSON.stringify(app.plugins.export(id)).replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:9')
    await app.plugins.install(JSON.parse(document), { replace: true })
  }
  await app.close()
})

test('piped text becomes a valid WAV file on stdout, and nothing else is there', async () => {
  const { code, bytes, stderr } = await home.aichat(['tts'], { input: 'Hello there.\n' })
  assert.is(code, 0, stderr)
  assert.is(bytes.readUInt32LE(40), bytes.length - 44)
  assert.ok(parseWav(bytes).samples.length > 12_000)
  assert.is(stderr, '')
})

test.whole('words, a file, a voice of another server and an alias all speak', async () => {
  writeFileSync(join(home.folder, 'text.txt'), 'Hello there.')
  for (const words of [
    ['Hello there.', '--voice', 'Vivian'],
    ['Hello', 'there.', '--voice', 'VCTK-P227'],
    ['-i', join(home.folder, 'text.txt'), '--model', 'voxb-tts-1.6b', '--voice', 'echo', '--cfg-coef', '1.5'],
  ]) {
    const { code, bytes, stderr } = await aichat(['tts', ...words])
    assert.is(code, 0, stderr)
    assert.ok(parseWav(bytes).samples.length > 8000)
  }
})

test.whole('stderr names unspoken parts, and a text that is mostly unspoken is refused', async () => {
  for (const flags of [[], ['--stream']]) {
    const { code, bytes, stderr } = await aichat(['tts', 'The word 你好 means hello.', ...flags])
    assert.is(code, 0, stderr)
    assert.ok(parseWav(bytes).samples.length > 8000)
    assert.match(stderr, /^aichat: 1 of 2 parts of the text not spoken: 你好$/m)
  }
  for (const left of ['(sighs, looks away)', '[pause]', '*sighs*']) {
    const words = ['tts', `Dust makes her ill. ${left} She said so.`]
    const { stderr } = await served(words)
    assert.match(stderr, /^aichat: 1 of \d parts of the text not spoken: (.*)$/m)
    assert.ok(stderr.includes(`: ${left}\n`), stderr)
    const kept = await served([...words, '--keep-directions'])
    assert.not.match(kept.stderr, /not spoken/)
  }
  const refused = await aichat(['tts', '你好，世界。', '--language', 'English'])
  assert.is(refused.code, 69)
  assert.match(refused.stderr, /Chinese/)
})

test('--json says where the audio is and what it holds', async () => {
  const file = join(home.folder, 'told.wav')
  const { stdout, stderr } = await served(['tts', 'The word 你好 means hello.', '-o', file, '--json'])
  const { engine, seconds, ...told } = JSON.parse(stdout || stderr)
  const chunks = { spoken: 1, total: 2 }
  assert.equal(told, { file, format: 'wav', chunks, skipped: ['你好'] })
  assert.ok(typeof engine === 'string' && seconds > 0.5)
})

test('the voice may come from the environment', async () => {
  const { code, stderr } = await aichat(['tts', 'Hello.'], { environment: { AICHAT_VOICE: 'nobody' } })
  assert.is(code, 67)
  assert.match(stderr, /nobody/)
})

test('a file named .mp3, .opus or .flac is one, with its tags', async () => {
  for (const [name, start] of [
    ['hello.mp3', 'ID3'],
    ['hello.OPUS', 'OggS'],
    ['hello.flac', 'fLaC'],
  ] as const) {
    const file = join(home.folder, name)
    const { code, stderr } = await served(['tts', 'Hello there.', '-o', file, '--voice', 'javert'])
    assert.is(code, 0, stderr)
    const bytes = readFileSync(file)
    assert.is(bytes.toString('latin1', 0, start.length), start)
    for (const tag of ['Hello there.', 'javert']) assert.ok(bytes.subarray(0, 300).includes(tag), tag)
    assert.not.match(stderr, /will hold/)
  }
})

test('a file that is named after another format gets WAV, which one line on stderr says', async () => {
  for (const [name, flags, written] of [
    ['hello.m4a', [], 'WAV'],
    ['hello.AAC', ['--raw'], 'raw samples'],
    ['hello.aiff', ['--quiet'], undefined],
    ['hello.wav', [], undefined],
    ['hello', [], undefined],
  ] as const) {
    const file = join(home.folder, name)
    const { code, stderr } = await served(['tts', 'Hello.', '-o', file, ...flags])
    assert.is(code, 0, stderr)
    const remarks = stderr.split('\n').filter((line) => line.includes('will hold'))
    assert.is(remarks.length, written ? 1 : 0, `${name}: ${stderr}`)
    if (written) assert.ok(remarks[0]!.startsWith(`${file} will hold ${written}: `), stderr)
    if (!flags.includes('--raw' as never)) assert.ok(parseWav(readFileSync(file)).samples.length > 4000)
  }
})

test('--raw is the same audio without its header, --stream with one that knows no length', async () => {
  const text = 'Hello there. And again.'
  const whole = (await served(['tts', text])).bytes
  const raw = await served(['tts', text, '--raw'])
  assert.equal(raw.bytes, whole.subarray(44))
  assert.match(raw.stderr, /24000 Hz, mono, 16-bit/)
  const streamed = (await served(['tts', text, '--stream'])).bytes
  assert.is(streamed.readUInt32LE(40), 0xffff_ffff)
  assert.equal(streamed.subarray(44), whole.subarray(44))
})

test('--speakers speaks a script in several voices, in a request and in a long text', async () => {
  const talk = await served(['tts', '[S1] Hello there. [S2] And again.', '--speakers', 'alba,javert', '--raw'])
  const one = await served(['tts', 'Hello there.', '--voice', 'alba', '--raw'])
  const other = await served(['tts', 'And again.', '--voice', 'javert', '--raw'])
  assert.equal(talk.bytes.subarray(0, one.bytes.length), one.bytes)
  assert.equal(talk.bytes.subarray(-other.bytes.length), other.bytes)
  const wrong = await aichat(['tts', '[S4] Hi.', '--speakers', 'alba,javert', '--raw'])
  assert.equal([wrong.code, wrong.stdout], [65, ''])
  assert.match(wrong.stderr, /a turn of \[S4\], and 2 speakers are named/)
})

test('-o writes a file whole, refuses one that exists before any work, replaces it with --force', async () => {
  const file = join(home.folder, 'speech.wav')
  const first = await served(['tts', 'Hello there.', '-o', file])
  assert.equal([first.code, first.stdout], [0, ''])
  const before = readFileSync(file)
  assert.ok(parseWav(before).samples.length > 12_000)
  assert.is((await served(['tts', 'Good bye.', '-o', file])).code, 73)
  assert.equal(readFileSync(file), before)
  assert.is((await served(['tts', 'Good bye.', '-o', file, '--force'])).code, 0)
  assert.not.equal(readFileSync(file), before)
  assert.is((await served(['tts', 'Hi', '-o', home.folder])).code, 73)
  const failed = join(home.folder, 'failed.wav')
  assert.is((await aichat(['tts', 'Hi', '--voice', 'nobody', '-o', failed])).code, 67)
  assert.not.ok(existsSync(failed))
  assert.equal(
    readdirSync(home.folder).filter((name) => name.endsWith('.tmp')),
    [],
  )
})

test('a device is written to and not replaced', async () => {
  assert.is((await served(['tts', 'Hi.', '-o', '/dev/null'])).code, 0)
  assert.not.ok(existsSync('/dev/null/..') && readFileSync('/dev/null').length > 0)
})

test('each refusal has its exit code, a sentence on stderr, and nothing on stdout', async () => {
  for (const [words, code, says] of [
    [['x'.repeat(10_001)], 65, /10,000/],
    [['😀'], 65, /empty/],
    [['Hi', '--voice', 'nobody'], 67, /alba, marius/],
    [['Hi', '--model', 'nothing'], 67, /voxb-tts/],
    [['Guten Tag, das ist ein Test'], 69, /German/],
    [['Hi', '-i', '/nowhere.txt'], 64, /not both/],
    [['-i', '/nowhere.txt'], 66, /nowhere/],
    [[], 64, /Nothing to speak/],
    [['Hi', '--nope'], 64, /nope/],
    [['clone', 'Hi', '--ref', '/nowhere.wav'], 66, /nowhere/],
    [['clone', 'Hi'], 64, /--ref/],
    [['design', 'Hi'], 64, /--description/],
  ] as const) {
    const finished = await aichat(['tts', ...words])
    assert.is(finished.code, code, `${words.join(' ').slice(0, 40)}: ${finished.stderr}`)
    assert.match(finished.stderr, says)
    assert.is(finished.stdout, '')
  }
})

test('under npm start, which writes to stdout itself, audio is refused', async () => {
  const npm = { npm_lifecycle_event: 'start', npm_config_loglevel: 'notice' }
  const { code, stderr } = await aichat(['tts', 'Hi'], { environment: npm })
  assert.is(code, 64)
  assert.match(stderr, /npm start -s/)
  assert.is((await served(['tts', 'Hi'], { environment: { ...npm, npm_config_loglevel: 'silent' } })).code, 0)
})

test('without a player --play names the players to install', async () => {
  const { code, stderr } = await aichat(['tts', 'Hi', '--play'], { environment: { PATH: home.folder } })
  assert.is(code, 69)
  assert.match(stderr, /aplay/)
})

test('--play gives the player a WAV file', async () => {
  const heard = join(home.folder, 'heard.wav')
  writeFileSync(join(home.folder, 'aplay'), `#!/bin/sh\nexec /bin/cat > '${heard}'\n`, { mode: 0o755 })
  const { code, stderr } = await served(['tts', 'Hello there.', '--play'], { environment: { PATH: home.folder } })
  assert.is(code, 0, stderr)
  assert.ok(parseWav(readFileSync(heard)).samples.length > 12_000)
})

test.whole('clone and design choose the variant themselves', async () => {
  const clip = join(home.folder, 'clip.wav')
  const spoken = await aichat([
    'tts',
    'Hello there, my friend, how are you on this fine and sunny day? I am well.',
    '--voice',
    'ryan',
  ])
  writeFileSync(clip, spoken.bytes)
  for (const words of [
    ['clone', 'Hello there.', '--ref', clip, '--ref-text', 'whatever'],
    ['clone', 'Hello there.', '--ref', clip, '--model', 'voxa-tts'],
    ['design', 'Hello there.', '--description', 'a deep old man'],
  ]) {
    const { code, bytes, stderr } = await aichat(['tts', ...words])
    assert.is(code, 0, stderr)
    assert.ok(parseWav(bytes).samples.length > 12_000)
  }
  writeFileSync(clip, writeWav(new Float32Array(24_000), 24_000))
  const short = await aichat(['tts', 'clone', 'Hi', '--ref', clip, '--model', 'voxa-tts'])
  assert.is(short.code, 65)
  assert.match(short.stderr, /3 seconds/)
  const file = join(home.folder, 'design.wav')
  const written = await aichat(['tts', 'design', 'Hello.', '--description', 'a man', '-o', file])
  assert.equal([written.code, written.stdout, existsSync(file)], [0, '', true])
})

test('voices are listed for people and as JSON', async () => {
  const all = JSON.parse((await aichat(['tts', 'voices', '--json'])).stdout)
  assert.is(all.voices.length, 28)
  const lines = (await aichat(['tts', 'voices', '--model', 'voxa-tts', '--plain'])).stdout.trim().split('\n')
  assert.is(lines.length, 9)
  assert.match(lines[2]!, /^vivian\tChinese\tvoxa-tts\tfable\tApache-2.0$/)
  assert.is((await aichat(['tts', 'voices', '--model', 'nothing'])).code, 67)
})

test.whole('health tells the engine that speaks for each server, as JSON', async () => {
  const { servers } = JSON.parse((await aichat(['tts', 'health', '--json'])).stdout)
  assert.equal(
    servers.map((server: { server: string; engine: string; url: null }) => [server.server, server.engine, server.url]),
    [
      ['voxa-tts', 'embedded', null],
      ['voxb-tts', 'embedded', null],
      ['voxb-tts-1.6b', 'embedded', null],
    ],
  )
})

test.whole('a reader that goes away ends the command quietly', async () => {
  const [program, ...args] = aichatCommand
  const child = spawn(
    program!,
    [...args, 'tts', '--stream', 'Hello there, my friend. '.repeat(60), '--server', server.url],
    {
      env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = await once(child, 'close')
  assert.equal([code, stderr], [0, ''])
})

test.whole('a dash reads stdin, and an empty one is a wrong use, here as in a chat and a memory', async () => {
  using home = openFastHome()
  const spoken = await home.aichat(['tts', '-'], { input: 'Hello.' })
  assert.is(spoken.code, 0, spoken.stderr)
  assert.is(spoken.bytes.toString('latin1', 0, 4), 'RIFF')
  await home.aichat(['persona', 'create', '--name', 'Ada', '-m', 'x'])
  for (const [words, verb] of [
    [['tts', '-'], 'speak'],
    [['tts', '-i', '-'], 'speak'],
    [['tts'], 'speak'],
    [['chat', '-'], 'ask'],
    [['chat', '-f', '-'], 'ask'],
    [['persona', 'memory', 'add', 'Ada', '-'], 'remember'],
  ] as const) {
    const { code, stdout, stderr } = await home.aichat(words, { input: '' })
    assert.equal([code, stdout, stderr], [64, '', `aichat: Nothing to ${verb}: standard input is empty\n`])
  }
})

test.run()
