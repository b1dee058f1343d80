/** Voices as the model's authors publish them: an embedding, made by a network that is not published. */
import { AppError } from '../../../src/errors.ts'
import { openTensorFile } from '../../../src/inference/inference.ts'
import { voiceSlots } from './conditions.ts'
import type { ModelFile } from './configuration.ts'
import type { VoiceEmbedding } from './memory.ts'

/** Two minutes and more: no published voice is a tenth as long. */
const mostFrames = 1500

/** The suffix of the files that belong to a model. */
export function voiceSuffix({ model_id: { sig, epoch } }: ModelFile): string {
  return `.${sig}@${epoch}.safetensors`
}

/** Reads a voice, or the voices of a script. Throws an AppError that names the file and everything that does not fit the model. */
export async function readVoiceFile(path: string, model: ModelFile): Promise<VoiceEmbedding> {
  const file = await openTensorFile(path)
  try {
    const misfit = (...details: string[]) =>
      new AppError('invalid', `${file.path} is no voice for this Kyutai TTS model`, { details })
    const stated = { sig: file.metadata.get('sig'), epoch: file.metadata.get('epoch') }
    const { sig, epoch } = model.model_id
    if ((stated.sig ?? sig) !== sig || Number(stated.epoch ?? epoch) !== epoch)
      throw misfit(`it was made for the model ${stated.sig}@${stated.epoch}, and this is ${sig}@${epoch}`)
    const entry = file.tensors.get('speaker_wavs')
    const { dim } = model.conditioners.speaker_wavs.tensor
    const [count = 0, size = 0, frames = 0] = entry?.shape ?? []
    if (!entry) throw misfit('speaker_wavs is missing')
    if (entry.shape.length !== 3 || count < 1 || count > voiceSlots || size !== dim || frames === 0)
      throw misfit(
        `speaker_wavs has shape [${entry.shape}], expected [1, ${dim}, frames], or as many as ${voiceSlots} voices`,
      )
    if (frames > mostFrames) throw misfit(`speaker_wavs has ${frames} frames, and ${mostFrames} are the most`)
    if (!['F32', 'BF16', 'F16', 'F64'].includes(entry.dtype)) throw misfit(`speaker_wavs holds ${entry.dtype}`)
    const data = await file.floats('speaker_wavs')
    if (!data.every(Number.isFinite)) throw misfit('speaker_wavs holds numbers that are not finite')
    const each = Array.from({ length: count }, (_, at) => data.subarray(at * dim * frames, (at + 1) * dim * frames))
    return { key: await file.digest('numbers'), frames, data: each }
  } finally {
    await file.close()
  }
}
