import { useState } from 'preact/hooks'
import { TextArea } from '../../components/field.tsx'
import { Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import type { SpeechServer, Voice } from '../../wire/types.ts'
import { useList } from '../../wire/use-data.ts'
import { CloneVoice } from './clone-voice.tsx'
import { ServerVoices } from './server-voices.tsx'
import { SoundBar } from './sound-bar.tsx'
import { useSpeech } from './use-speech.ts'

/** Every voice of the speech servers, heard with a sentence of one's own. */
export function Voices() {
  const [text, setText] = useState('The quick brown fox jumps over the lazy dog.')
  const voices = useList<Voice>('/api/speech/voices', 'voices')
  const health = useList<SpeechServer>('/api/speech/health', 'servers')
  const speech = useSpeech()
  const all = voices.value ?? []
  const servers = [...new Set(all.map(({ server }) => server))]
  return (
    <Page title="Voices" lead="Each voice speaks your sentence; the sound begins while it is being made.">
      <TextArea label="Sentence" value={text} onInput={setText} rows={2} />
      <Problem of={voices.problem ?? health.problem} />
      <SoundBar sound={speech.sound} onStop={speech.stop} />
      {servers.map((server) => (
        <ServerVoices
          key={server}
          server={server}
          voices={all.filter((voice) => voice.server === server)}
          health={health.value?.find((each) => each.server === server)}
          sound={speech.sound}
          isSilent={text.trim() === ''}
          onSpeak={(voice) =>
            speech.speak(`${server} ${voice}`, { path: '/api/speech', body: { input: text, voice, model: server } })
          }
          onStop={speech.stop}
        />
      ))}
      <CloneVoice text={text} onSpeak={speech.speak} />
    </Page>
  )
}
