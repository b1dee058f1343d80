import { useEffect, useRef, useState } from 'preact/hooks'
import { toPcm16, wavOf } from '../../wire/wav.ts'

/** A recording as a WAV file, as the API takes it. */
export interface Recording {
  readonly wav: Blob
  readonly seconds: number
  readonly address: string
}

export interface Recorder {
  readonly isRecording: boolean
  readonly recording: Recording | undefined
  readonly problem: string | undefined
  start(): void
  stop(): void
  /** Takes a sound file of the person's machine. */
  take(file: Blob): void
}

/** Samples of a second: enough for every engine, and a third of the bytes of most microphones. */
const sampleRate = 24_000

/** Records with the microphone of this machine. */
export function useRecorder(): Recorder {
  const [state, setState] = useState<{ isRecording: boolean; recording?: Recording; problem?: string }>({
    isRecording: false,
  })
  const running = useRef<MediaRecorder | undefined>(undefined)
  useEffect(() => () => running.current?.stop(), [])

  async function take(sound: Blob): Promise<void> {
    try {
      setState({ isRecording: false, recording: await recordingOf(sound) })
    } catch {
      setState({ isRecording: false, problem: 'This file holds no sound that the browser can read' })
    }
  }

  async function start(): Promise<void> {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
      const recorder = new MediaRecorder(stream)
      const pieces: Blob[] = []
      recorder.addEventListener('dataavailable', ({ data }) => pieces.push(data))
      recorder.addEventListener('stop', () => {
        for (const track of stream.getTracks()) track.stop()
        void take(new Blob(pieces, { type: recorder.mimeType }))
      })
      recorder.start()
      running.current = recorder
      setState({ isRecording: true })
    } catch {
      const reason = window.isSecureContext
        ? 'The browser allows no microphone, or there is none'
        : 'Browsers allow the microphone on https and on this machine alone'
      setState({ isRecording: false, problem: reason })
    }
  }

  return {
    isRecording: state.isRecording,
    recording: state.recording,
    problem: state.problem,
    start: () => void start(),
    stop() {
      if (running.current?.state === 'recording') running.current.stop()
      running.current = undefined
    },
    take: (file) => void take(file),
  }
}

/** Decodes a sound of any format that the browser knows into a WAV file of one channel. */
async function recordingOf(sound: Blob): Promise<Recording> {
  const context = new OfflineAudioContext(1, 1, sampleRate)
  const decoded = await context.decodeAudioData(await sound.arrayBuffer())
  const wav = wavOf([toPcm16(decoded.getChannelData(0))], sampleRate)
  return { wav, seconds: decoded.duration, address: URL.createObjectURL(wav) }
}
