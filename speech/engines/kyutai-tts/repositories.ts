import { readData } from '../../shared/data.ts'

/** Where the model hub has Kyutai TTS 1.6B and the voices of speech server C. */
export const kyutaiRepository = 'kyutai/tts-1.6b-en_fr'

export const voiceRepository = 'kyutai/tts-voices'

/** The recordings from which the server's voices were made, in the repository of voices. */
export const voicePaths = readData<Readonly<Record<string, string>>>('engines/kyutai-tts/voices.json')

/** The name under which a voice's file is pulled: that of the first voice made from the same recording. */
export function voiceFileName(id: string): string {
  return Object.keys(voicePaths).find((other) => voicePaths[other] === voicePaths[id]) ?? id
}
