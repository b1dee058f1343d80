import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Section } from '../../components/page.tsx'
import { Table } from '../../components/table.tsx'
import type { SpeechServer, Voice } from '../../wire/types.ts'
import type { Sound } from './use-speech.ts'

interface ServerVoicesProps {
  readonly server: string
  readonly voices: readonly Voice[]
  readonly health: SpeechServer | undefined
  readonly sound: Sound | undefined
  readonly isSilent: boolean
  readonly onSpeak: (voice: string) => void
  readonly onStop: () => void
}

/** The voices of one speech server, with their licences, and the engine that speaks for it. */
export function ServerVoices({ server, voices, health, sound, isSilent, onSpeak, onStop }: ServerVoicesProps) {
  const hasLicences = voices.some(({ licence }) => licence !== undefined)
  return (
    <Section title={server} actions={health && <EngineState health={health} />}>
      {health && !health.model_loaded && (
        <p class="muted text">
          {health.reason ?? 'The built-in voice speaks until the weights of this server are pulled.'}
        </p>
      )}
      <Table
        caption={`Voices of ${server}`}
        rows={voices}
        keyOf={({ id }) => id}
        isEven
        columns={[
          {
            name: '',
            isButton: true,
            of: ({ id, name }) => {
              const speaks = sound?.isSpeaking === true && sound.voice === `${server} ${id}`
              return speaks ? (
                <Button icon="stop" label={`Stop ${name}`} onClick={onStop} />
              ) : (
                <Button icon="play" label={`Listen to ${name}`} isDisabled={isSilent} onClick={() => onSpeak(id)} />
              )
            },
          },
          { name: 'Voice', of: ({ name }) => <span class="line">{name}</span> },
          { name: 'Language', of: ({ language }) => language },
          ...(hasLicences ? [{ name: 'Licence', of: ({ licence }: Voice) => licence ?? '' }] : []),
          { name: 'Also called', of: ({ aliases }) => <span class="muted">{aliases.join(', ')}</span>, isExtra: true },
        ]}
      />
    </Section>
  )
}

function EngineState({
  health: { engine, model, device, model_loaded, status, url },
}: {
  readonly health: SpeechServer
}) {
  return (
    <span class="row">
      <Badge tone={status === 'failed' ? 'bad' : model_loaded ? 'good' : 'warning'}>
        {model_loaded ? 'model loaded' : engine === 'embedded' ? 'small built-in engine' : `engine ${engine}`}
      </Badge>
      <span class="muted text">
        {model_loaded ? `${engine}, ${model} on ${device}` : `speaks in place of ${model}`}
        {url === null ? '' : ', a server of its own'}
      </span>
    </span>
  )
}
