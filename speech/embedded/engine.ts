import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '../../src/errors.ts'
import type { SpeechEngine, SpeechRequest, VoiceHandle, VoiceSource } from '../engine.ts'
import { splitSentences } from '../sentences.ts'
import { parseWav } from '../wav.ts'
import { speakerOfDescription, speakerOfInstruction } from './description.ts'
import { embeddedRate, type Flite, loadFlite } from './flite.ts'
import { matchSpeaker } from './matching.ts'
import { presets, type Speaker } from './speaker.ts'
import { spellPlainly } from './spelling.ts'

/** Matched voices that are kept; each is a few numbers, but a clip takes a moment to measure. */
const keptVoices = 256
/** After the first sentence, which is spoken alone to be heard soon, sentences are spoken together up to this length. */
const groupLength = 240
/** Silence between two sentences of one chunk, in seconds. */
const sentencePause = 0.3

interface EmbeddedVoice extends VoiceHandle {
  readonly speaker: Speaker
}

/**
 * The engine that speaks out of the box: flite with a voice of its own for every preset. English only; clones and
 * designs are matched voices, and it says so in its capabilities.
 */
export function createEngine(): SpeechEngine {
  const voices = new Map<string, EmbeddedVoice>()
  let loading: Promise<Flite> | undefined
  const flite = () => {
    loading ??= loadFlite()
    return loading
  }

  return {
    id: 'embedded',
    sampleRate: embeddedRate,
    capabilities: { languages: ['English'], cloning: 'matched', design: 'matched', instruct: true, streaming: true },
    async load() {
      await flite()
    },
    async prepareVoice(source) {
      const key = keyOf(source)
      const voice = voices.get(key) ?? { key, speaker: await speakerOf(source, flite) }
      voices.delete(key)
      voices.set(key, voice)
      for (const oldest of voices.keys()) {
        if (voices.size <= keptVoices) break
        voices.delete(oldest)
      }
      return voice
    },
    async *synthesize(request, signal) {
      const speaker = speakerFor(request, voices)
      const engine = await flite()
      let pause = false
      for (const text of groups(request.text)) {
        // Speaking blocks the thread: between two groups a cancellation can be heard.
        await new Promise(setImmediate)
        signal?.throwIfAborted()
        for (const samples of engine.speak(text, speaker)) {
          if (pause) yield new Float32Array(sentencePause * embeddedRate)
          pause = false
          yield samples
        }
        pause = true
      }
    },
    async close() {
      voices.clear()
      loading = undefined
    },
  }
}

function speakerFor({ voice, instruct }: SpeechRequest, voices: ReadonlyMap<string, EmbeddedVoice>): Speaker {
  const speaker = (voice as Partial<EmbeddedVoice>).speaker ?? voices.get(voice.key)?.speaker
  if (!speaker) throw new AppError('internal', 'The voice was not prepared')
  return instruct ? speakerOfInstruction(speaker, instruct) : speaker
}

async function speakerOf(source: VoiceSource, flite: () => Promise<Flite>): Promise<Speaker> {
  switch (source.kind) {
    case 'preset': {
      const preset = presets[source.voice.toLowerCase()]
      if (!preset) throw new AppError('not_found', `The embedded engine has no voice "${source.voice}"`)
      return preset
    }
    case 'design':
      return speakerOfDescription(source.description)
    case 'clone':
      return matchSpeaker(await flite(), source)
    case 'file':
      if (!/\.wav$/i.test(source.path))
        throw new AppError('unavailable', 'This voice file needs the neural model, which is not installed', {
          details: ['the embedded engine can match a voice to a .wav recording only'],
        })
      return matchSpeaker(await flite(), parseWav(await readFile(source.path)))
  }
}

function keyOf(source: VoiceSource): string {
  const hash = createHash('sha256').update(source.kind)
  if (source.kind === 'preset') hash.update(source.voice.toLowerCase())
  else if (source.kind === 'design') hash.update(source.description)
  else if (source.kind === 'file') hash.update(source.path)
  else {
    const { buffer, byteOffset, byteLength } = source.samples
    hash.update(`${source.sampleRate} `).update(new Uint8Array(buffer, byteOffset, byteLength))
  }
  return hash.digest('hex')
}

/** The first sentence, then groups of sentences: starting flite anew costs more than a short sentence. */
function groups(text: string): readonly string[] {
  const found: string[] = []
  for (const sentence of splitSentences(text).map(spellPlainly)) {
    if (sentence === '') continue
    const last = found.at(-1)
    if (found.length > 1 && last !== undefined && last.length + sentence.length < groupLength)
      found[found.length - 1] = `${last} ${closed(sentence)}`
    else found.push(closed(sentence))
  }
  return found
}

/** With an end mark, so that flite makes a sentence of it also within a group. */
function closed(sentence: string): string {
  return /[.!?]["')]*$/.test(sentence) ? sentence : `${sentence}.`
}
