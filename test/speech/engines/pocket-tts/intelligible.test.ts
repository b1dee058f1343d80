// With --all only: a neural engine.
/** With the real weights, where they were pulled: the voices of pocket-tts are understood. */
import * as assert from 'uvu/assert'
import { createEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import { findPocketModels } from '../../../../speech/engines/pocket-tts/model-folder.ts'
import { presetNames } from '../../../../speech/engines/pocket-tts/voices.ts'
import { readManifest } from '../../../../speech/servers/manifest.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { findRecogniser } from '../../../helpers/speech/recogniser.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertUnderstood } from '../understood.ts'

const test = suite('the voices of pocket-tts are understood')

const name = 'every preset of the pulled model is understood, and its speech reversed is not'

const models = process.env['AICHAT_MODELS_DIR']
const folder = models ? findPocketModels(models).find(({ language }) => language === 'English')?.folder : undefined
if (!folder) {
  process.stdout.write('skipped: AICHAT_MODELS_DIR holds no English pocket-tts model (aichat models pull voxb-tts)\n')
  test.skip(name, () => undefined)
} else {
  const recogniser = findRecogniser()
  if (recogniser)
    test(name, async () => {
      const voices = await spokenPresets(folder)
      assert.ok(voices.length > 0, 'a preset of server B is installed')
      const engine = createEngine({ folder, cacheFolder: temporaryFolder() })
      await assertUnderstood(recogniser, 'pocket-tts', engine, voices)
    })
  else test.skip(name, () => undefined)
}

async function spokenPresets(from: string): Promise<string[]> {
  const installed = await presetNames(from)
  return readManifest('voxb-tts')
    .voices.map(({ id }) => id)
    .filter((id) => installed.includes(id))
}

test.run()
