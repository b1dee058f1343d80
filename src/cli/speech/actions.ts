import { createReadStream } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import {
  collectSamples,
  countCharacters,
  countsOf,
  createLexiconReader,
  encodeFile,
  formatOfEnding,
  openWavReader,
  piecesOf,
  readWritten,
  skippedOf,
  speakSentences,
} from '../../../speech/speech.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import {
  cloneVoice,
  type Download,
  designVoice,
  listVoicesOfServers,
  showSpeechHealth,
  speakText,
} from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { readInput, writeOutput } from '../terminal/files.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { openProgress } from '../terminal/progress.ts'
import { emptyInput, noText, readStdinText, streamStdin, textFrom } from '../terminal/stdin.ts'
import { table } from '../terminal/table.ts'
import type { BookPart, Spoken, SpokenFile } from './book.ts'
import { findPlayer, openPlayer } from './player.ts'

interface AudioOptions {
  readonly output?: string
  readonly force?: boolean
  readonly raw?: boolean
  readonly play?: boolean
  readonly stream?: boolean
}

/** Options of every way to speak. */
interface SayOptions extends AudioOptions {
  readonly input?: string
}

/** The longest text of one request, in characters: the servers' specification. */
const requestLimit = 10_000

/** The longest text: bytes. Above the servers' limit, so that their message is seen. */
const textLimit = 1024 * 1024

export async function speak(
  cli: Cli,
  words: readonly string[],
  options: SayOptions & { readonly say?: boolean },
): Promise<void> {
  if (options.say) return await printWords(cli, await readText(cli, words, options))
  const fields = fieldsOf(cli, speakText)
  const voice = fields.voice ?? (fields.speakers ? undefined : (await cli.settings()).voice)
  const fixed = { ...fields, ...given({ voice }) }
  // A sentence alone does not say whose turn it is.
  if (!fields.speakers && comesInPieces(cli, words, options)) {
    await checkTarget(cli, options)
    return speakStdin(cli, options, fixed.speed, (input) => cli.ask(speakText, { ...fixed, input, stream: true }))
  }
  const input = await prepare(cli, words, options)
  await say(cli, { input, options, fixed, ask: (part) => cli.ask(speakText, { ...fixed, ...part }) })
}

/** Whether standard input is spoken as it comes: with --stream or --play, where nothing needs all of it. */
function comesInPieces(cli: Cli, words: readonly string[], { input, output, stream, play }: SayOptions) {
  const text = words.join(' ')
  const isStdin = input === '-' || text === '-' || (text === '' && input === undefined && cli.io.stdinIsPiped())
  return isStdin && (stream === true || play === true) && (output ?? '-') === '-'
}

/** Speaks standard input sentence by sentence, while it comes. */
async function speakStdin(
  cli: Cli,
  { play: plays, raw }: SayOptions,
  speed: number | undefined,
  ask: (input: string) => Promise<Download>,
) {
  const soFar = { spoken: 0, total: 0, skipped: [] }
  const body = speakSentences(textsOf(cli), ask, soFar, speed)
  await (plays ? play(cli, body) : raw ? writeRaw(cli, body) : write(cli, body))
  if (soFar.total === 0 && !cli.io.outClosed) throw emptyInput('speak')
  if (!cli.io.outClosed) tellUnspoken(cli, [soFar.spoken, soFar.total], soFar.skipped)
}

async function* textsOf(cli: Cli): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of streamStdin(cli)) {
    const text = decoder.decode(piece, { stream: true })
    if (text.includes('\0')) throw noText('Standard input')
    yield text
  }
}

/** With --say: prints the words that would be spoken. */
async function printWords(cli: Cli, text: string): Promise<void> {
  const { language, keep_directions: keepDirections } = fieldsOf(cli, speakText)
  const lexicon = await createLexiconReader((await cli.settings()).lexicon)()
  const spoken = await readWritten(text, { language, keepDirections, lexicon })
  await print(cli, { text: spoken.text, left_out: spoken.leftOut }, () => spoken.text)
  if (spoken.leftOut.length > 0) note(cli, `left out: ${spoken.leftOut.join(', ')}`)
}

export async function design(cli: Cli, words: readonly string[], options: SayOptions): Promise<void> {
  const input = await prepare(cli, words, options)
  const fixed = fieldsOf(cli, designVoice)
  await say(cli, { input, options, fixed, ask: (part) => cli.ask(designVoice, { ...fixed, ...part }) })
}

export async function clone(
  cli: Cli,
  words: readonly string[],
  options: SayOptions & { readonly ref: string },
): Promise<void> {
  const input = await prepare(cli, words, options)
  const clip = await readInput(cli, options.ref, 24 * 1024 * 1024)
  const fixed = { ...fieldsOf(cli, cloneVoice), reference_audio: clip.toString('base64') }
  await say(cli, { input, options, fixed, ask: (part) => cli.ask(cloneVoice, { ...fixed, ...part }) })
}

export async function voices(cli: Cli, { model }: { model?: string }): Promise<void> {
  const answer = await cli.ask(listVoicesOfServers, fieldsOf(cli, listVoicesOfServers))
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
      ['PACE', (row) => (row.pace === undefined ? '' : `${row.pace} s of speech a second`)],
    ]),
  )
}

/** Checks where the audio and the words go, and reads the text. */
async function prepare(cli: Cli, words: readonly string[], options: SayOptions): Promise<string> {
  await checkTarget(cli, options)
  const text = await readText(cli, words, options)
  tellFormat(cli, options)
  return text
}

/** Names of audio formats that this command does not write. */
const otherFormats = /^\.(?:mp2|m4a|m4b|mp4|aac|wma|webm|weba|aiff?|caf|amr|wv)$/i

/** Says before the work that a file named after another format gets none of it. */
function tellFormat(cli: Cli, { output = '', raw }: AudioOptions): void {
  if (!otherFormats.test(extname(output))) return
  const written = raw ? 'raw samples' : 'WAV'
  note(cli, `${output} will hold ${written}: name it .mp3, .opus or .flac for these formats`)
}

interface Say {
  readonly input: string
  readonly options: SayOptions
  /** The fields of all requests of this command. */
  readonly fixed: {
    readonly language?: string
    readonly seed?: number
    readonly speed?: number
    readonly keep_directions?: boolean
  } & Readonly<Record<string, unknown>>
  /** Asks with further fields. */
  ask(part: Partial<Omit<BookPart, 'stream'>> & { readonly input: string; readonly stream: boolean }): Promise<Download>
}

/** Speaks a text of one request, or a long one part by part into its file. */
async function say(cli: Cli, { input, options, fixed, ask }: Say): Promise<void> {
  const { output, force = false } = options
  if (await isBook(input, output)) {
    if (options.play && fileFormat(options) !== 'wav')
      throw new AppError('usage', 'A long text in this format is not played', {
        details: ['leave out --play, or write a .wav'],
      })
    const { speakBook } = await import('./book.ts')
    const { language, seed, ...settings } = fixed
    const spoken = await speakBook(cli, {
      ...{ text: input, output: output!, force, file: fileOf(options, input, fixed), language, seed },
      keepDirections: fixed.keep_directions,
      speed: fixed.speed,
      settings,
      ask,
    })
    tellUnspoken(cli, [spoken.spoken, spoken.total], spoken.skipped)
    if (options.play) await play(cli, createReadStream(output!))
    return printSaved(cli, options, spoken)
  }
  const answer = await ask({
    input,
    stream: streams(cli, input, options),
  })
  const file = fileOf(options, input, fixed)
  await printSaved(cli, options, await deliver(cli, answer, file, options))
}

/** With --json: prints where the audio is and what it holds. */
async function printSaved(cli: Cli, options: AudioOptions, saved: Spoken | undefined): Promise<void> {
  if (!saved) return
  const { output, raw } = options
  const { engine, spoken, total, skipped, seconds } = saved
  const place = { file: output, format: raw ? 'raw' : fileFormat(options), seconds: Math.round(1000 * seconds) / 1000 }
  await print(cli, { ...place, engine, chunks: { spoken, total }, skipped }, () => '')
}

/** Whether a text is longer than one request may be and goes into a file; elsewhere the servers refuse it. */
async function isBook(input: string, output: string | undefined): Promise<boolean> {
  if (output === undefined || output === '-' || input.length <= requestLimit) return false
  if (countCharacters(input) <= requestLimit) return false
  const found = await stat(output).catch(() => undefined)
  return found === undefined || found.isFile()
}

/** Throws before any work when the output could not be written after it. */
async function checkTarget(cli: Cli, options: AudioOptions): Promise<void> {
  const { output, play, force } = options
  // Before an engine starts for sound that nothing plays.
  if (play) findPlayer(cli.io.environment)
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

async function readText(cli: Cli, words: readonly string[], { input }: SayOptions): Promise<string> {
  const text = words.join(' ')
  if (text !== '' && input !== undefined) throw new AppError('usage', 'Use either a text or -i, not both')
  if (text !== '' && text !== '-') return text
  if (input !== undefined && input !== '-') return textFrom(cli, await readInput(cli, input, textLimit), input)
  if (text === '-' || input === '-' || cli.io.stdinIsPiped()) {
    const piped = await readStdinText(cli, textLimit)
    if (piped.trim() === '') throw emptyInput('speak')
    return piped
  }
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

/** Writes or plays the audio, and names the skipped parts of the text on stderr. Returns what went into a file. */
async function deliver(
  cli: Cli,
  answer: Download,
  file: SpokenFile,
  options: AudioOptions,
): Promise<Spoken | undefined> {
  const body = showsProgress(cli, file.text) ? withProgress(cli, answer) : piecesOf(answer)
  const engine = answer.headers['x-speech-engine']
  let seconds: number | undefined
  if (options.output !== undefined && options.output !== '-')
    seconds = await save(cli, await collectSamples(body), { ...file, engine: engine ?? file.engine }, options)
  else if (options.play) await play(cli, body)
  else if (options.raw) await writeRaw(cli, body)
  else if (options.stream) await write(cli, body)
  else await write(cli, wavOf(await collectSamples(body), file))
  if (cli.io.outClosed) return
  const [[spoken, total], skipped] = [countsOf(answer), skippedOf(answer)]
  tellUnspoken(cli, [spoken, total], skipped)
  if (cli.globals().verbose && engine) note(cli, `spoken by the ${engine} engine`)
  return seconds === undefined ? undefined : { engine: engine ?? '', spoken, total, skipped: [...skipped], seconds }
}

function tellUnspoken(cli: Cli, [spoken, total]: readonly [number, number], skipped: readonly string[]): void {
  if (spoken < total || skipped.length > 0)
    cli.io.err(stripControls(`aichat: ${unspokenMessage(total - spoken, total, skipped)}`))
}

/** Over HTTP the count of a stream comes too late, so the parts alone are named. */
function unspokenMessage(missing: number, total: number, skipped: readonly string[]): string {
  const pieces = skipped.slice(0, 8).map((piece) => piece.replace(/\s+/g, ' '))
  const named = pieces.length === 0 ? '' : `: ${pieces.join(', ')}${skipped.length > pieces.length ? ', …' : ''}`
  return missing > 0 ? `${missing} of ${counted(total, 'part')} of the text not spoken${named}` : `not spoken${named}`
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

/** The format of an output: samples alone with `--raw`, else by the ending of its name, and WAV for other endings. */
function fileFormat({ output = '', raw }: AudioOptions): SpokenFile['format'] {
  return raw ? 'pcm' : (formatOfEnding(extname(output)) ?? 'wav')
}

function fileOf(
  options: AudioOptions,
  text: string,
  { voice, speakers }: Readonly<Record<string, unknown>>,
): SpokenFile {
  return { format: fileFormat(options), text, voice: voice ?? speakers?.toString(), engine: 'aichat' }
}

function wavOf(
  { samples, sampleRate }: Awaited<ReturnType<typeof collectSamples>>,
  file: SpokenFile,
): AsyncIterable<Uint8Array> {
  return encodeFile([samples], { ...file, format: 'wav' }, { sampleRate, dataBytes: samples.length })
}

async function save(
  cli: Cli,
  audio: Awaited<ReturnType<typeof collectSamples>>,
  file: SpokenFile,
  options: AudioOptions,
): Promise<number> {
  const path = options.output!
  const { samples, sampleRate } = audio
  const pieces: Uint8Array[] = []
  for await (const piece of encodeFile([samples], file, { sampleRate, dataBytes: samples.length })) pieces.push(piece)
  const content = Buffer.concat(pieces)
  const found = await stat(path).catch(() => undefined)
  // A device or a pipe is written in place; only a file is replaced.
  if (found && !found.isFile()) await writeFile(path, content)
  else await writeOutput(path, content, options.force === true)
  if (options.play) await play(cli, wavOf(audio, file))
  return audio.samples.length / 2 / audio.sampleRate
}
