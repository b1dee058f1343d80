import { Button } from '../../components/button.tsx'
import { FileField } from '../../components/file-field.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { duration } from '../../page/format.ts'
import { useRecorder } from './recorder.ts'
import type { SpeechState } from './use-speech.ts'

/** A clone needs so many seconds of a voice. */
const leastSeconds = 3

/** Speaks with the voice of a recording that is made here, or of a file. */
export function CloneVoice({ text, onSpeak }: { readonly text: string; readonly onSpeak: SpeechState['speak'] }) {
  const { isRecording, recording, problem, start, stop, take } = useRecorder()
  const isShort = recording !== undefined && recording.seconds < leastSeconds
  const speak = async () => {
    if (!recording) return
    const body = { input: text, reference_audio: await base64Of(recording.wav) }
    onSpeak('clone', { path: '/api/speech/clone', body })
  }
  return (
    <Section title="Clone a voice">
      <div class="card">
        <p class="muted">
          Read a few sentences aloud, at least {leastSeconds} seconds. Clone only a voice whose owner agrees.
        </p>
        <div class="row">
          {isRecording ? (
            <Button icon="stop" kind="danger" onClick={stop}>
              End the recording
            </Button>
          ) : (
            <Button icon="record" onClick={start}>
              Record
            </Button>
          )}
          <FileField label="or a sound file" accept="audio/*" onFile={(file) => file && take(file)} />
        </div>
        {problem && <Notice kind="warning">{problem}</Notice>}
        {recording && (
          <>
            {/* biome-ignore lint/a11y/useMediaCaption: the person's own recording */}
            <audio controls src={recording.address} aria-label="The recording" />
            {isShort && (
              <Notice kind="warning">
                It is {duration(recording.seconds * 1000)} long: record at least {leastSeconds} seconds.
              </Notice>
            )}
            <Button kind="main" icon="play" isDisabled={isShort || text.trim() === ''} onClick={() => void speak()}>
              Speak the sentence with this voice
            </Button>
          </>
        )}
      </div>
    </Section>
  )
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
