import { readFile } from 'node:fs/promises'
import { AppError } from '../../../src/errors.ts'
import { type Clip, parseWav } from '../../audio/wav.ts'
import { createRecent, type Recent } from '../../shared/recent.ts'
import type { WrittenWord } from '../../text/reading/reading.ts'
import { createWrittenWords } from '../../text/reading/written-words.ts'
import { splitChunks, splitSentences } from '../../text/sentences.ts'
import {
  keyOfSource,
  type SpeechEngine,
  type SpeechRequest,
  type VoiceHandle,
  type VoiceSource,
  type WordTime,
} from '../engine.ts'
import { profileVoice } from './analysis.ts'
import { type Flite, loadFlite, outputRate } from './flite.ts'
import { presetSpeaker, type Speaker, speaker, speakerOfDescription, speakerOfInstruction } from './speaker.ts'
import { spellPlainly } from './spelling.ts'
import type { TokenTime } from './token-times.ts'

/** Matched voices that are kept; each is a few numbers, but a clip takes a moment to measure. */
const keptVoices = 256
/** Characters that flite gets at once: its time grows faster than the text, and it cannot be stopped. */
const longestPiece = 200
/** Silence after a sentence that another one follows, and after a clause, in seconds. */
const pauses = { sentence: 0.3, clause: 0.1 } as const

interface FliteVoice extends VoiceHandle {
  readonly speaker: Speaker
}

/**
 * The engine that needs no download, `embedded` on the wire: flite with a voice of its own for every preset. English only;
 * clones and designs are matched voices, as its capabilities tell.
 */
export function createEngine(): SpeechEngine {
  const voices = createRecent<FliteVoice>(keptVoices)
  let loading: Promise<Flite> | undefined
  const flite = () => {
    loading ??= loadFlite()
    return loading
  }

  return {
    id: 'embedded',
    sampleRate: outputRate,
    capabilities: {
      languages: ['English'],
      wordTimes: 'measured',
      phones: true,
      rate: true,
    },
    async load() {
      await flite()
    },
    async prepareVoice(source) {
      const key = keyOfSource(source)
      const voice = voices.get(key) ?? { key, speaker: await speakerOf(source, flite) }
      voices.set(key, voice)
      return voice
    },
    async *synthesize(request, signal) {
      const usual = speakerFor(request, voices)
      const speaker = request.rate ? { ...usual, stretch: usual.stretch / request.rate } : usual
      const engine = await flite()
      const sentences = splitSentences(request.text)
      const tellWords = request.onWords && createWrittenWords(wordsOf(sentences), request.onWords)
      let pause = 0
      let spokenSamples = 0
      for (const { text, ends } of piecesOf(sentences)) {
        // Speaking blocks the event loop: between two pieces a cancellation arrives.
        await new Promise(setImmediate)
        signal?.throwIfAborted()
        const begin = (spokenSamples + pause * outputRate) / outputRate
        const samples = engine.speak(text, speaker, {
          phones: request.phones,
          onTimes: tellWords && ((times) => tellWords(heardWords(text, times, begin))),
        })
        if (samples.length === 0) continue
        if (pause > 0) yield new Float32Array(pause * outputRate)
        spokenSamples += pause * outputRate + samples.length
        yield samples
        pause = ends ? pauses.sentence : pauses.clause
      }
    },
    async close() {
      voices.clear()
      const loaded = loading
      loading = undefined
      const engine = await loaded?.catch(() => undefined)
      engine?.close()
    },
  }
}

function speakerFor({ voice, instruct }: SpeechRequest, voices: Recent<FliteVoice>): Speaker {
  const speaker = (voice as Partial<FliteVoice>).speaker ?? voices.get(voice.key)?.speaker
  if (!speaker) throw new AppError('internal', 'The voice was not prepared')
  return instruct ? speakerOfInstruction(speaker, instruct) : speaker
}

async function speakerOf(source: VoiceSource, flite: () => Promise<Flite>): Promise<Speaker> {
  switch (source.kind) {
    case 'preset': {
      const preset = presetSpeaker(source.voice)
      if (!preset) throw new AppError('not_found', `Voice "${source.voice}" not found in the built-in voice (flite)`)
      return preset
    }
    case 'several':
      throw new AppError('unavailable', 'The built-in voice (flite) speaks with one voice at a time')
    case 'design':
      return speakerOfDescription(source.description)
    case 'clone':
      return matchSpeaker(await flite(), source)
    case 'file':
      if (!/\.wav$/i.test(source.path))
        throw new AppError('unavailable', 'This voice file needs the neural model, which is not installed', {
          details: ['the built-in voice (flite) can match a voice to a .wav recording only'],
        })
      return matchSpeaker(await flite(), parseWav(await readFile(source.path)))
  }
}

interface Piece {
  readonly text: string
  /** True where a sentence ends with it, false where a clause does. */
  readonly ends: boolean
}

/** The sentences as flite gets them, the long ones in parts. The first one begins with a clause of its own, to be heard soon. */
function piecesOf(sentences: readonly string[]): readonly Piece[] {
  const spelled = sentences.map(spellPlainly).filter((sentence) => sentence !== '')
  return spelled.flatMap((sentence, index) => {
    const opening = index === 0 ? openingClause(sentence) : ''
    const parts = [opening, ...splitChunks(sentence.slice(opening.length), longestPiece)].filter((part) => part !== '')
    return parts.map((part, at) => ({ text: closed(part, at === parts.length - 1), ends: at === parts.length - 1 }))
  })
}

/** Up to the first mark between clauses, where the sentence is long and the clause is neither a word or two nor half of it all. */
function openingClause(sentence: string): string {
  return sentence.length > 90 ? (/^[^,;:]{20,80}[,;:](?= )/.exec(sentence)?.[0] ?? '') : ''
}

/** With an end mark, by which flite tells whether its voice falls. */
function closed(part: string, ends: boolean): string {
  if (/[.!?]["')]*$/.test(part) || (!ends && /[,;:]["')]*$/.test(part))) return part
  return `${part}${ends ? '.' : ','}`
}

/** The words as they were written, and how many are spelled for each; a silent one, such as a dash, belongs to the one before. */
function wordsOf(sentences: readonly string[]): readonly WrittenWord[] {
  const words: { text: string; spoken: number }[] = []
  for (const sentence of sentences) {
    let counted = 0
    let beginning = ''
    for (const text of sentence.split(/\s+/)) {
      beginning += ` ${text}`
      // A word is not spelled alone: signs go to the word before.
      const spoken = spellPlainly(beginning).split(' ').filter(Boolean).length - counted
      counted += spoken
      const last = words.at(-1)
      if (last && (spoken === 0 || last.spoken === 0)) {
        last.text += ` ${text}`
        last.spoken += spoken
      } else words.push({ text, spoken })
    }
  }
  return words
}

/** The words of a piece that begins at second `begin`; a silent one is reported with the one before, or behind where it is the first. */
function heardWords(text: string, times: readonly TokenTime[], begin: number): readonly WordTime[] {
  const words: { text: string; start: number; end: number }[] = []
  let silent = ''
  for (const [index, word] of text.split(' ').entries()) {
    const time = times[index]
    const last = words.at(-1)
    if (time) words.push({ text: silent + word, start: begin + time.start, end: begin + time.end })
    else if (last) last.text += ` ${word}`
    silent = time || last ? '' : `${silent}${word} `
  }
  return words
}

/** Spoken to measure a base voice: it holds most sounds of English, as any clip of a few seconds does. */
const calibration = 'The quick brown fox jumps over the lazy dog, and she sells sea shells by the shore.'
/** Above the first pitch in Hz a voice is taken for a woman's or child's, above the second for a man's high one. */
const [femaleAbove, highAbove] = [155, 115]
/** Less speech than this tells too little about a voice. */
const leastSpeechSeconds = 0.4
/** A minute suffices; more would only take longer. */
const heardSeconds = 60

/**
 * Chooses and bends the base voice that is nearest to a clip: median pitch and tempo are brought to the clip's, within the range that
 * stays clear. It is matching, not cloning: the speaker will not be recognised by it. Throws `invalid` for a clip without speech.
 */
function matchSpeaker(flite: Flite, clip: Clip): Speaker {
  const wanted = profileVoice(clip.samples.subarray(0, heardSeconds * clip.sampleRate), clip.sampleRate)
  const { pitch } = wanted
  if (pitch === undefined || wanted.speechSeconds < leastSpeechSeconds)
    throw new AppError('invalid', 'No voice can be heard in the clip', {
      details: ['send a recording of one person speaking, without music'],
    })
  const matched = speaker(pitch > femaleAbove ? 'slt' : pitch > highAbove ? 'awb' : 'rms', { pitch })
  const { tempo } = profileVoice(flite.speak(calibration, matched), outputRate)
  return wanted.tempo > 0 ? speaker(matched.base, { ...matched, stretch: tempo / wanted.tempo }) : matched
}
