import { stat, writeFile } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import type { Download } from '../../operations/operation.ts'
import { cloneVoice, designVoice, listVoicesOfServers, showSpeechHealth, speakText } from '../../operations/speech.ts'
import { type Cli, note, show, table } from '../terminal/cli.ts'
import { readInput, writeOutput } from '../terminal/files.ts'
import { stripControls } from '../terminal/io.ts'
import { openProgress } from '../terminal/progress.ts'
import { readStdin } from '../terminal/stdin.ts'
import { openPlayer } from './player.ts'
import { collectWav, openWavReader } from './wav-reader.ts'

/** The flags for the target of the audio. */
export interface AudioOptions {
  readonly output?: string
  readonly force?: boolean
  readonly raw?: boolean
  readonly play?: boolean
  readonly stream?: boolean
}

/** The flags for the text. */
export interface TextOptions {
  readonly input?: string
  readonly model?: string
  readonly language?: string
  readonly instruct?: string
}

export interface SpeakOptions extends AudioOptions, TextOptions {
  readonly voice?: string
  readonly cfgCoef?: number
}

export interface CloneOptions extends AudioOptions, TextOptions {
  readonly ref: string
  readonly refText?: string
}

export interface DesignOptions extends AudioOptions, TextOptions {
  readonly description: string
}

/** In bytes; more than the server takes, so that its own message is seen. */
const textLimit = 1024 * 1024

export async function runSpeak(cli: Cli, words: string, options: SpeakOptions): Promise<void> {
  await checkTarget(cli, options)
  const input = await readText(cli, words, options)
  const voice = options.voice ?? (await cli.settings()).voice
  const request = {
    ...common(input, options, live(cli, input, options)),
    ...(voice === undefined ? {} : { voice }),
    ...(options.cfgCoef === undefined ? {} : { cfg_coef: options.cfgCoef }),
  }
  await deliver(cli, await cli.ask(speakText, request), input, options)
}

export async function runDesign(cli: Cli, words: string, options: DesignOptions): Promise<void> {
  await checkTarget(cli, options)
  const input = await readText(cli, words, options)
  const request = { ...common(input, options, live(cli, input, options)), voice_description: options.description }
  await deliver(cli, await cli.ask(designVoice, request), input, options)
}

export async function runClone(cli: Cli, words: string, options: CloneOptions): Promise<void> {
  await checkTarget(cli, options)
  const input = await readText(cli, words, options)
  const clip = await readInput(cli, options.ref, 24 * 1024 * 1024)
  const request = {
    ...common(input, options, live(cli, input, options)),
    reference_audio: clip.toString('base64'),
    ...(options.refText === undefined ? {} : { reference_text: options.refText }),
  }
  await deliver(cli, await cli.ask(cloneVoice, request), input, options)
}

export async function runVoices(cli: Cli, model: string | undefined): Promise<void> {
  const answer = await cli.ask(listVoicesOfServers, model === undefined ? {} : { model })
  if (model !== undefined && answer.voices.length === 0)
    throw new AppError('not_found', `Speech server "${model}" not found`)
  await show(cli, answer, ({ voices }) =>
    table(cli, voices, [
      ['VOICE', (row) => row.id],
      ['LANGUAGE', (row) => row.language],
      ['SERVER', (row) => row.server],
      ['ALIASES', (row) => row.aliases.join(', ')],
      ['LICENCE', (row) => row.licence ?? ''],
    ]),
  )
}

export async function runHealth(cli: Cli): Promise<void> {
  await show(cli, await cli.ask(showSpeechHealth, {}), ({ servers }) =>
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

function common(input: string, options: TextOptions, stream: boolean) {
  return {
    input,
    stream,
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.language === undefined ? {} : { language: options.language }),
    ...(options.instruct === undefined ? {} : { instruct: options.instruct }),
  }
}

/** Refuses an unwritable target before any work. */
async function checkTarget(cli: Cli, options: AudioOptions): Promise<void> {
  const { output, play, force } = options
  if (output !== undefined && output !== '-') {
    const found = await stat(output).catch(() => undefined)
    if (found?.isDirectory()) throw new AppError('cannot_create', `${output} is a folder`)
    if (found?.isFile() && !force)
      throw new AppError('cannot_create', `${output} exists already`, { details: ['Say --force to replace it'] })
    return
  }
  if (play) return
  if (cli.io.stdoutIsTerminal)
    throw new AppError('usage', 'Audio is not written to a terminal', {
      details: ['Say -o FILE, --play, or send the output somewhere: aichat tts … > speech.wav'],
    })
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = cli.io.environment
  if (script === 'start' && level !== 'silent')
    throw new AppError('usage', 'npm would write its banner into the audio', {
      details: ['Say npm start -s -- tts …, or use bin/aichat'],
    })
}

async function readText(cli: Cli, words: string, { input }: TextOptions): Promise<string> {
  if (words !== '' && input !== undefined) throw new AppError('usage', 'Give the text or a file with -i, not both')
  if (words !== '') return words
  if (input !== undefined) return (await readInput(cli, input, textLimit)).toString('utf8')
  if (cli.io.stdinIsGiven()) return (await readStdin(cli, textLimit)).toString('utf8')
  throw new AppError('usage', 'There is nothing to speak: give a text, name a file with -i, or pipe one in')
}

/** Text beyond one chunk takes long enough to be watched. */
function isWatched(cli: Cli, text: string): boolean {
  return cli.io.stderrIsTerminal && !cli.globals().quiet && text.length > 500
}

/** Whether audio is wanted piece by piece: to be heard at once, or to see how far it is. */
function live(cli: Cli, text: string, { stream, play }: AudioOptions): boolean {
  return stream === true || play === true || isWatched(cli, text)
}

/** Writes or plays the audio; stderr names the parts of the text that were skipped. */
async function deliver(cli: Cli, answer: Download, text: string, options: AudioOptions): Promise<void> {
  const body = isWatched(cli, text) ? watched(cli, answer) : piecesOf(answer)
  if (options.output !== undefined && options.output !== '-') await save(cli, await collectWav(body), options)
  else if (options.play) await play(cli, body)
  else if (options.raw) await writeRaw(cli, body)
  else if (options.stream) await write(cli, body)
  else await write(cli, one((await collectWav(body)).wav))
  // A closed stdout needs no account of the rest.
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

/** The pieces of the text in letters or signs that the engine does not know. */
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

/** Over HTTP a stream does not tell the count of its chunks in time: then the pieces alone are named. */
function unspokenMessage(missing: number, total: number, skipped: readonly string[]): string {
  const pieces = skipped.slice(0, 8).map((piece) => piece.replace(/\s+/g, ' '))
  const named = pieces.length === 0 ? '' : `: ${pieces.join(', ')}${skipped.length > pieces.length ? ', …' : ''}`
  return missing > 0 ? `${missing} of ${total} parts of the text could not be spoken${named}` : `not spoken${named}`
}

/** The same pieces, with a bar on stderr that moves with the chunks. */
async function* watched(cli: Cli, answer: Download): AsyncGenerator<Uint8Array> {
  const progress = openProgress(cli)
  try {
    for await (const piece of piecesOf(answer)) {
      const [spoken, total] = countsOf(answer)
      progress.show(spoken / total, `${spoken} of ${total} parts spoken`)
      yield piece
    }
  } finally {
    progress.clear()
  }
}

/** Writes until stdout is closed, which is no error. */
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
  // A device or a pipe is written to; only a file is replaced.
  if (found && !found.isFile()) await writeFile(path, content)
  else await writeOutput(path, content, options.force === true)
  if (options.play) await play(cli, one(audio.wav))
}
