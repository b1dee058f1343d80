import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf, type Refused } from '../../wire/client.ts'
import { type Heard, type SpeechRequest, speakAloud } from './speech-stream.ts'

export interface Sound {
  /** The id of the voice that speaks or spoke last. */
  readonly voice: string
  readonly isSpeaking: boolean
  /** Milliseconds from the click to the first sound. */
  readonly firstSoundMs?: number
  readonly heard?: Heard & { readonly address: string }
  readonly problem?: Refused
}

export type SpeechState = ReturnType<typeof useSpeech>

/** One voice at a time: the next one ends the one before. */
export function useSpeech() {
  const [sound, setSound] = useState<Sound>()
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  return {
    sound,
    stop() {
      running.current?.abort()
      setSound((now) => now && { ...now, isSpeaking: false })
    },
    speak(voice: string, request: Pick<SpeechRequest, 'path' | 'body'>) {
      running.current?.abort()
      const controller = new AbortController()
      running.current = controller
      const tell = (change: Partial<Sound>) => {
        if (!controller.signal.aborted) setSound((now) => ({ voice, isSpeaking: true, ...now, ...change }))
      }
      setSound((now) => {
        if (now?.heard) URL.revokeObjectURL(now.heard.address)
        return { voice, isSpeaking: true }
      })
      speakAloud({ ...request, signal: controller.signal, onBegin: (firstSoundMs) => tell({ firstSoundMs }) }).then(
        (heard) => tell({ isSpeaking: false, heard: { ...heard, address: URL.createObjectURL(heard.wav) } }),
        (reason: unknown) => tell({ isSpeaking: false, problem: problemOf(reason) }),
      )
    },
  }
}
