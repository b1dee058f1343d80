import { stat, writeFile } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/counted.ts'
import type { Download } from '../../operations/operation.ts'
import { cloneVoice, designVoice, listVoicesOfServers, showSpeechHealth, speakText } from '../../operations/speech.ts'
import type { Cli } from '../terminal/cli.ts'
import { readInput, writeOutput } from '../terminal/files.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { openProgress } from '../terminal/progress.ts'
import { readStdin } from '../terminal/stdin.ts'
import { table } from '../terminal/table.ts'
import { openPlayer } from './player.ts'
import { collectWav, openWavReader } from './wav-reader.ts'

/** Options of the audio's destination. */
interface AudioOptions {
  readonly output?: string
  readonly force?: boolean
  readonly raw?: boolean
  readonly play?: boolean
  readonly stream?: boolean
}

/** Options of the text. */
interface TextOptions {
  readonly input?: string
  readonly model?: string
  readonly language?: string
  readonly instruct?: string
}

interface SpeakOptions extends AudioOptions, TextOptions {
  readonly voice?: string
  readonly cfgCoef?: number
}

interface CloneOptions extends AudioOptions, TextOptions {
  readonly ref: string
  readonly refText?: string
}

interface DesignOptions extends AudioOptions, TextOptions {
  readonly description: string
}

/** The longest text: bytes. Above the servers' limit, so that their message is seen. */
const textLimit = 1024 * 1024

export async function speak(cli: Cli, words: readonly string[], options: SpeakOptions): Promise<void> {
  await checkTarget(cli, options)
  const input = await readText(cli, words, options)
  const voice = options.voice ?? (await cli.settings()).voice
  const request = {
    ...common(input, options, streams(cli, input, options)),
    ...given({ voice, cfg_coef: options.cfgCoef }),
  }
  await deliver(cli, await cli.ask(speakText, request), input, options)
}

export async function design(cli: Cli, words: readonly string[], options: DesignOptions): Promise<void> {
  await checkTarget(cli, options)
  const input = await readText(cli, words, options)
  const request = { ...common(input, options, streams(cli, input, options)), voice_description: options.description }
  await deliver(cli, await cli.ask(designVoice, request), input, options)
}

export async function clone(cli: Cli, words: readonly string[], options: CloneOptions): Promise<void> {
  await checkTarget(cli, options)
  const input = await readText(cli, words, options)
  const clip = await readInput(cli, options.ref, 24 * 1024 * 1024)
  const request = {
    ...common(input, options, streams(cli, input, options)),
    reference_audio: clip.toString('base64'),
    ...given({ reference_text: options.refText }),
  }
  await deliver(cli, await cli.ask(cloneVoice, request), input, options)
}

export async function voices(cli: Cli, { model }: { model?: string }): Promise<void> {
  const answer = await cli.ask(listVoicesOfServers, given({ model }))
  if (model !== undefined && answer.voices.length === 0)
    throw new AppError('not_found', `Speech server "${model}" not found`)
  await print(cli, answer, ({ voices }) =>
    table(cli, voices, [
      ['VOICE', (row) => row.id],
      ['LANGUAGE', (row) => row.language],
      ['SERVER', (row) => row.server],
      ['ALIASES', (row) => row.aliases.join(', ')],
      ['LICENCE', (row) => row.licence ?? ''],
    ]),
  )
}

export async function health(cli: Cli): Promise<void> {
  await print(cli, await cli.ask(showSpeechHealth, {}), ({ servers }) =>
    table(cli, servers, [
      ['SERVER', (row) => row.server],
      ['STATUS', (row) => row.status],
      ['AT', (row) => row.url ?? 'this process'],
      ['ENGINE', (row) => row.engine],
      ['MODEL', (row) => `${row.model}${row.model_loaded ? '' : ' (not loaded)'}`],
      ['DEVICE', (row) => row.device],
    ]),
  )
}

function common(input: string, { model, language, instruct }: TextOptions, stream: boolean) {
  return { input, stream, ...given({ model, language, instruct }) }
}

/** Throws before any work when the output could not be written after it. */
async function checkTarget(cli: Cli, options: AudioOptions): Promise<void> {
  const { output, play, force } = options
  if (output !== undefined && output !== '-') {
    const found = await stat(output).catch(() => undefined)
    if (found?.isDirectory()) throw new AppError('cannot_create', `${output} is a folder`)
    if (found?.isFile() && !force)
      throw new AppError('cannot_create', `${output} already exists`, { details: ['Add --force to replace it'] })
    return
  }
  if (play) return
  if (cli.io.stdoutIsTerminal)
    throw new AppError('usage', 'Refusing to write audio to a terminal', {
      details: ['Use -o FILE, --play, or redirect the output: aichat tts … > speech.wav'],
    })
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = cli.io.environment
  if (script === 'start' && level !== 'silent')
    throw new AppError('usage', 'npm would write its banner into the audio', {
      details: ['Use npm start -s -- tts …, or bin/aichat'],
    })
}

async function readText(cli: Cli, words: readonly string[], { input }: TextOptions): Promise<string> {
  const text = words.join(' ')
  if (text !== '' && input !== undefined) throw new AppError('usage', 'Use either a text or -i, not both')
  if (text !== '') return text
  if (input !== undefined) return (await readInput(cli, input, textLimit)).toString('utf8')
  if (cli.io.stdinIsPiped()) return (await readStdin(cli, textLimit)).toString('utf8')
  throw new AppError('usage', 'Nothing to speak: give a text, name a file with -i, or pipe one in')
}

/** Progress is shown on a terminal, for text beyond one chunk (500 characters). */
function showsProgress(cli: Cli, text: string): boolean {
  return cli.io.stderrIsTerminal && !cli.globals().quiet && text.length > 500
}

/** True for audio in pieces: with --stream, --play or progress. */
function streams(cli: Cli, text: string, { stream, play }: AudioOptions): boolean {
  return stream === true || play === true || showsProgress(cli, text)
}

/** Writes or plays the audio, and names the skipped parts of the text on stderr. */
async function deliver(cli: Cli, answer: Download, text: string, options: AudioOptions): Promise<void> {
  const body = showsProgress(cli, text) ? withProgress(cli, answer) : piecesOf(answer)
  if (options.output !== undefined && options.output !== '-') await save(cli, await collectWav(body), options)
  else if (options.play) await play(cli, body)
  else if (options.raw) await writeRaw(cli, body)
  else if (options.stream) await write(cli, body)
  else await write(cli, one((await collectWav(body)).wav))
  if (cli.io.outClosed) return
  const [spoken, total] = countsOf(answer)
  const skipped = skippedOf(answer)
  if (spoken < total || skipped.length > 0)
    cli.io.err(stripControls(`aichat: ${unspokenMessage(total - spoken, total, skipped)}`))
  const engine = answer.headers['x-speech-engine']
  if (cli.globals().verbose && engine) note(cli, `spoken by the ${engine} engine`)
}

async function* piecesOf({ body }: Download): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function countsOf({ headers }: Download): readonly [spoken: number, total: number] {
  const [spoken = 1, total = 1] = (headers['x-speech-chunks'] ?? '1/1').split('/').map(Number)
  return [spoken, total]
}

/** Parts of the text in a script or with signs that the engine cannot speak. */
function skippedOf({ headers }: Download): readonly string[] {
  const list = headers['x-speech-skipped'] ?? ''
  return list === '' ? [] : list.split(',').map(decodePiece)
}

function decodePiece(piece: string): string {
  try {
    return decodeURIComponent(piece)
  } catch {
    return piece
  }
}

/** Over HTTP the count of a stream comes too late, so the parts alone are named. */
function unspokenMessage(missing: number, total: number, skipped: readonly string[]): string {
  const pieces = skipped.slice(0, 8).map((piece) => piece.replace(/\s+/g, ' '))
  const named = pieces.length === 0 ? '' : `: ${pieces.join(', ')}${skipped.length > pieces.length ? ', …' : ''}`
  return missing > 0
    ? `${missing} of ${counted(total, 'part')} of the text could not be spoken${named}`
    : `not spoken${named}`
}

/** Passes audio through and shows the share of spoken chunks on stderr. */
async function* withProgress(cli: Cli, answer: Download): AsyncGenerator<Uint8Array> {
  const progress = openProgress(cli)
  try {
    for await (const piece of piecesOf(answer)) {
      const [spoken, total] = countsOf(answer)
      progress.show(spoken / total, `${spoken} of ${counted(total, 'part')} spoken`)
      yield piece
    }
  } finally {
    progress.clear()
  }
}

/** Writes until the end, or until the reader closes stdout. */
async function write(cli: Cli, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of body) {
    if (cli.io.outClosed) return
    await cli.io.out(piece)
  }
}

async function writeRaw(cli: Cli, body: AsyncIterable<Uint8Array>): Promise<void> {
  const reader = openWavReader(body)
  const { sampleRate } = await reader.format()
  note(cli, `${sampleRate} Hz, mono, 16-bit little-endian`)
  await write(cli, reader.samples())
}

async function play(cli: Cli, body: AsyncIterable<Uint8Array>): Promise<void> {
  const player = await openPlayer(cli.io.environment, cli.signal())
  for await (const piece of body) if (!(await player.take(piece))) break
  await player.end()
}

async function save(cli: Cli, audio: Awaited<ReturnType<typeof collectWav>>, options: AudioOptions): Promise<void> {
  const path = options.output!
  const content = options.raw ? audio.samples : audio.wav
  const found = await stat(path).catch(() => undefined)
  // A device or a pipe is written in place; only a file is replaced.
  if (found && !found.isFile()) await writeFile(path, content)
  else await writeOutput(path, content, options.force === true)
  if (options.play) await play(cli, one(audio.wav))
}
