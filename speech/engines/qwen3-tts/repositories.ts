/** The repositories of the model hub by the variants of speech server A. */
export const qwenRepositories: Readonly<Record<string, string>> = {
  'customvoice-1.7b': 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice',
  'customvoice-0.6b': 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice',
  'voicedesign-1.7b': 'Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign',
  'base-1.7b': 'Qwen/Qwen3-TTS-12Hz-1.7B-Base',
  'base-0.6b': 'Qwen/Qwen3-TTS-12Hz-0.6B-Base',
}
