import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/notice.tsx'
import { duration } from '../../page/format.ts'
import type { Sound } from './use-speech.ts'

/** The sound being played, and the whole of it to play again. */
export function SoundBar({ sound, onStop }: { readonly sound: Sound | undefined; readonly onStop: () => void }) {
  if (!sound) return null
  const { isSpeaking, heard, firstSoundMs, problem } = sound
  return (
    <div class="card" role="status">
      <Problem of={problem} />
      {!problem && (
        <div class="row between">
          <span class="muted">
            {firstSoundMs === undefined
              ? isSpeaking
                ? 'The voice is being made…'
                : 'Stopped'
              : `First sound after ${duration(firstSoundMs)}`}
            {heard && `, ${duration(heard.seconds * 1000)} spoken by the engine ${heard.engine}`}
          </span>
          {isSpeaking && (
            <Button icon="stop" onClick={onStop}>
              Stop
            </Button>
          )}
        </div>
      )}
      {heard && (
        // biome-ignore lint/a11y/useMediaCaption: the text that is spoken is in the field above
        <audio controls src={heard.address} aria-label="The spoken sentence" />
      )}
    </div>
  )
}
