/** Where the model hub has Kyutai TTS 1.6B and the voices of speech server C. */
export const kyutaiRepository = 'kyutai/tts-1.6b-en_fr'

/** Voices belong to a model: the suffix of their files names it. */
export const voiceRepository = 'kyutai/tts-voices'
export const publishedVoiceSuffix = '.1e68beda@240.safetensors'

/** The recordings from which the server's voices were made, in the repository of voices. */
export const voicePaths: Readonly<Record<string, string>> = {
  alba: 'alba-mackenna/casual.wav',
  'alba-casual': 'alba-mackenna/casual.wav',
  'alba-merchant': 'alba-mackenna/merchant.wav',
  'alba-announcer': 'alba-mackenna/announcer.wav',
  'expresso-happy': 'expresso/ex03-ex01_happy_001_channel1_334s.wav',
  'expresso-sad': 'expresso/ex03-ex02_sad-sympathetic_001_channel1_454s.wav',
  'expresso-angry': 'expresso/ex03-ex01_angry_001_channel1_201s.wav',
  'vctk-p225': 'vctk/p225_023.wav',
  'vctk-p226': 'vctk/p226_023.wav',
  'vctk-p227': 'vctk/p227_023.wav',
  'vctk-p228': 'vctk/p228_023.wav',
}

/** The name under which a voice's file is pulled: that of the first voice made from the same recording. */
export function voiceFileName(id: string): string {
  return Object.keys(voicePaths).find((other) => voicePaths[other] === voicePaths[id]) ?? id
}
