import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { FileField } from '../../components/file-field.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { duration } from '../../page/format.ts'
import { toPcm16, wavOf } from '../../wire/wav.ts'
import type { SpeechState } from './use-speech.ts'

/** A clone needs so many seconds of a voice. */
const leastSeconds = 3

/** Samples of a second: enough for every engine, and a third of the bytes of most microphones. */
const sampleRate = 24_000

interface Recording {
  readonly wav: Blob
  readonly seconds: number
  readonly address: string
}

/** Speaks with the voice of a sound file. */
export function CloneVoice({ text, onSpeak }: { readonly text: string; readonly onSpeak: SpeechState['speak'] }) {
  const [recording, setRecording] = useState<Recording | 'unreadable'>()
  const take = (file: File | undefined) => {
    if (file) recordingOf(file).then(setRecording, () => setRecording('unreadable'))
  }
  const speak = async ({ wav }: Recording) => {
    const body = { input: text, reference_audio: await base64Of(wav) }
    onSpeak('clone', { path: '/api/speech/clone', body })
  }
  return (
    <Section title="Clone a voice">
      <div class="card">
        <p class="muted">
          A recording of a few sentences, at least {leastSeconds} seconds. Clone only a voice whose owner agrees.
        </p>
        <FileField label="A sound file" accept="audio/*" onFile={take} />
        {recording === 'unreadable' ? (
          <Notice kind="warning">This file holds no sound that the browser can read</Notice>
        ) : (
          recording && (
            <>
              {/* biome-ignore lint/a11y/useMediaCaption: the person's own recording */}
              <audio controls src={recording.address} aria-label="The recording" />
              {recording.seconds < leastSeconds && (
                <Notice kind="warning">
                  It is {duration(recording.seconds * 1000)} long: at least {leastSeconds} seconds are needed.
                </Notice>
              )}
              <Button
                kind="main"
                icon="play"
                isDisabled={recording.seconds < leastSeconds || text.trim() === ''}
                onClick={() => void speak(recording)}
              >
                Speak the sentence with this voice
              </Button>
            </>
          )
        )}
      </div>
    </Section>
  )
}

/** Decodes a sound of any format that the browser knows into a WAV file of one channel. */
async function recordingOf(sound: Blob): Promise<Recording> {
  const context = new OfflineAudioContext(1, 1, sampleRate)
  const decoded = await context.decodeAudioData(await sound.arrayBuffer())
  const wav = wavOf([toPcm16(decoded.getChannelData(0))], sampleRate)
  return { wav, seconds: decoded.duration, address: URL.createObjectURL(wav) }
}

async function base64Of(blob: Blob): Promise<string> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error('The recording cannot be read')))
    reader.readAsDataURL(blob)
  })
  return address.slice(address.indexOf(',') + 1)
}
