/**
 * Where the files of Qwen3-TTS lie. The models folder mirrors the hub, one repository a variant:
 *
 *     Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice/    config.json, model.safetensors, vocab.json, …, speech_tokenizer/
 *     voxa-tts/customvoice-1.7b/               the same files, put there by hand
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of an installed variant. */
export function findQwenModel(modelsFolder: string, variant: string): string | undefined {
  const repository = qwenRepositories[variant]
  const places = [...(repository ? [repository] : []), join('voxa-tts', variant)]
  return places
    .map((place) => join(modelsFolder, place))
    .find((folder) => existsSync(join(folder, 'model.safetensors')))
}

/** The variants that are installed. */
export function installedVariants(modelsFolder: string): string[] {
  return Object.keys(qwenRepositories).filter((variant) => findQwenModel(modelsFolder, variant) !== undefined)
}

/** The repositories of the model hub by the variants of speech server A. */
const qwenRepositories: Readonly<Record<string, string>> = {
  'customvoice-1.7b': 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice',
  'customvoice-0.6b': 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice',
  'voicedesign-1.7b': 'Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign',
  'base-1.7b': 'Qwen/Qwen3-TTS-12Hz-1.7B-Base',
  'base-0.6b': 'Qwen/Qwen3-TTS-12Hz-0.6B-Base',
}
