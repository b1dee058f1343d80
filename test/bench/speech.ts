import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { joinSamples } from '../../speech/audio/sample-queue.ts'
import { profileVoice } from '../../speech/engines/flite/analysis.ts'
import { createEngine } from '../../speech/engines/flite/engine.ts'
import { readManifest, serverIds } from '../../speech/servers/manifest.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { findRecogniser, type Recording, wordErrorRate } from '../helpers/speech/recogniser.ts'
import { recogniserSentences as sentences } from '../speech/recogniser-sentences.ts'
import { median, print } from './parts/figures.ts'

const rounds = 7

/** Flite's voices told apart and understood, and a speech server's speed over HTTP. */
export async function bench(): Promise<void> {
  await voices()
  await speed()
}

/** Every preset: median pitch, spectral centroid, tempo, and how many words an automatic recogniser gets wrong. */
async function voices(): Promise<void> {
  const engine = createEngine()
  const recogniser = findRecogniser()
  const recordings = new Map<string, Recording>()
  const names = new Set(serverIds.flatMap((id) => readManifest(id).voices.map((voice) => voice.id)))
  for (const name of names) {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: name })
    for (const [index, text] of sentences.entries()) {
      const pieces: Float32Array[] = []
      for await (const piece of engine.synthesize({ text, voice })) pieces.push(piece)
      recordings.set(`${name}.${index}`, { samples: joinSamples(pieces), sampleRate: engine.sampleRate })
    }
  }
  const heard = await recogniser?.transcribe(recordings)
  for (const id of serverIds) {
    print(`\n${id.padEnd(16)} pitch Hz  peaks/s  word error rate (${sentences.length} sentences)`)
    for (const { id: name } of readManifest(id).voices) {
      const own = sentences.map((_, index) => `${name}.${index}`)
      const samples = joinSamples(own.map((key) => recordings.get(key)!.samples))
      const { pitch, tempo } = profileVoice(samples, engine.sampleRate)
      const rate = heard
        ? wordErrorRate(sentences.join(' '), own.map((key) => heard.get(key)).join(' ')).toFixed(2)
        : '-'
      const figures = [pitch!.toFixed(0).padStart(8), tempo.toFixed(2).padStart(8)]
      print(`${name.padEnd(16)} ${figures.join(' ')} ${rate.padStart(8)}`)
    }
  }
}

interface Take {
  readonly audioSeconds: number
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly firstAudioMs: number
}

/** Server B over HTTP on loopback, medians of seven; CPU is that of the server and its engine together. */
async function speed(): Promise<void> {
  const home = temporaryFolder()
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, 'serve', 'voxb-tts', '--host', '127.0.0.1', '--port', '0'], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home, HOME: home },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    const url = await addressOf(child)
    const cold = await take(url, child.pid!, sentences[0]!)
    print(`\nvoxb-tts over HTTP, first request of all: first audio after ${cold.firstAudioMs.toFixed(0)} ms`)
    for (let warm = 0; warm < 10; warm++) await take(url, child.pid!, sentences.join(' '))
    print('sentences  audio s  × real time (wall)  × real time (CPU)  first audio ms')
    for (const count of [1, 3, 10]) {
      const text = Array.from({ length: count }, (_, index) => sentences[index % sentences.length]).join(' ')
      const takes: Take[] = []
      for (let round = 0; round < rounds; round++) takes.push(await take(url, child.pid!, text))
      const columns = [
        String(count).padStart(9),
        median(takes.map((one) => one.audioSeconds))
          .toFixed(1)
          .padStart(8),
        median(takes.map((one) => one.audioSeconds / one.wallSeconds))
          .toFixed(1)
          .padStart(19),
        median(takes.map((one) => one.audioSeconds / one.cpuSeconds))
          .toFixed(1)
          .padStart(18),
        median(takes.map((one) => one.firstAudioMs))
          .toFixed(0)
          .padStart(15),
      ]
      print(columns.join(' '))
    }
    for (const format of ['wav', 'mp3', 'opus', 'flac']) {
      const takes: Take[] = []
      for (let round = 0; round < rounds; round++) takes.push(await take(url, child.pid!, sentences.join(' '), format))
      const first = median(takes.map((one) => one.firstAudioMs)).toFixed(0)
      print(`${format}: first after ${first} ms, CPU ${median(takes.map((one) => one.cpuSeconds)).toFixed(2)} s`)
    }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let output = ''
  for await (const piece of child.stderr!) {
    output += String(piece)
    const url = /serves voxb-tts on (http:[^\s"]+)/.exec(output)?.[1]
    if (url) {
      child.stderr!.resume()
      return url
    }
  }
  throw new Error(`the server did not start: ${output}`)
}

/** One streamed request: until the first audio behind the header, and until the end. */
async function take(url: string, pid: number, input: string, format = 'wav'): Promise<Take> {
  const cpuBefore = cpuSeconds(pid)
  const started = performance.now()
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, stream: true, response_format: format }),
  })
  let firstAudioMs = 0
  let bytes = 0
  for await (const piece of response.body!) {
    bytes += piece.length
    if (bytes > 44 && firstAudioMs === 0) firstAudioMs = performance.now() - started
  }
  const wallSeconds = (performance.now() - started) / 1000
  if (response.status !== 200) throw new Error(`the server answered ${response.status}`)
  return { audioSeconds: (bytes - 44) / 48_000, wallSeconds, cpuSeconds: cpuSeconds(pid) - cpuBefore, firstAudioMs }
}

/** The process and its children; only Linux tells. */
function processesOf(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/)
    return [pid, ...children.filter(Boolean).map(Number)]
  } catch {
    return [pid]
  }
}

/** User and system time in proc(5)'s clock ticks of 10 ms; NaN where there is no /proc. */
function cpuSeconds(pid: number): number {
  let ticks = 0
  for (const one of processesOf(pid))
    try {
      const fields = readFileSync(`/proc/${one}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      return Number.NaN
    }
  return ticks / 100
}
