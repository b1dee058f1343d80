// With --all only: a neural engine.
/** With the real weights, where they were pulled: the English voices of Qwen3-TTS are understood. */
import { createEngine } from '../../../../speech/engines/qwen3-tts/engine.ts'
import { findQwenModel } from '../../../../speech/engines/qwen3-tts/model-folder.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { findRecogniser } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertUnderstood } from '../understood.ts'

const test = suite('the voices of Qwen3-TTS are understood')

const voices = ['ryan', 'aiden']

const models = process.env['AICHAT_MODELS_DIR']
const installed = ['customvoice-0.6b', 'customvoice-1.7b'].flatMap((variant) => {
  const folder = models ? findQwenModel(models, variant) : undefined
  return folder ? [{ variant, folder }] : []
})
const recogniser = installed.length > 0 ? findRecogniser() : undefined
if (installed.length === 0)
  process.stdout.write('skipped: AICHAT_MODELS_DIR holds no preset variant (aichat models pull voxa-tts)\n')
if (!recogniser) test.skip('English presets are understood, and their speech reversed is not', () => undefined)
else
  for (const { variant, folder } of installed)
    test(`${variant}: English presets are understood, and their speech reversed is not`, () =>
      assertUnderstood(recogniser, variant, createEngine({ folder, cacheFolder: temporaryFolder() }), voices))

test.run()
