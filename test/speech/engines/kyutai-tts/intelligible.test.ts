// With --all only: a neural engine.
/** With the real weights, where they were pulled: the English voices of Kyutai TTS are understood. */
import { createEngine } from '../../../../speech/engines/kyutai-tts/engine.ts'
import { findKyutaiModel, voiceFolders } from '../../../../speech/engines/kyutai-tts/model-folder.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { findRecogniser } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertUnderstood } from '../understood.ts'

const test = suite('the voices of Kyutai TTS are understood')

/** Voices that are pulled with the model without agreeing to a licence. */
const voices = ['alba', 'vctk-p225']
const name = 'English voices of the pulled model are understood, and their speech reversed is not'

const models = process.env['AICHAT_MODELS_DIR']
const folder = models ? findKyutaiModel(models) : undefined
if (!models || !folder) {
  process.stdout.write('skipped: AICHAT_MODELS_DIR holds no Kyutai TTS model (aichat models pull voxb-tts-1.6b)\n')
  test.skip(name, () => undefined)
} else {
  const recogniser = findRecogniser()
  if (recogniser)
    test(name, () => {
      const places = { folder, cacheFolder: temporaryFolder(), voices: voiceFolders(models, folder) }
      return assertUnderstood(recogniser, 'kyutai-tts', createEngine(places), voices)
    })
  else test.skip(name, () => undefined)
}

test.run()
