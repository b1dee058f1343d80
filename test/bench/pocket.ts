import { join } from 'node:path'
import { temporaryFolder } from '../helpers/folders.ts'
import { makePocketModel, officialSize } from '../speech/engines/pocket-tts/model.ts'
import { print } from './parts/figures.ts'
import { measureFirstLoad, measureServer, timed } from './speech-parts/large-model.ts'

const sentences = [
  'The quick brown fox jumps over the lazy dog near the river.',
  'She had your dark suit in greasy wash water all year.',
  'A large size in stockings is hard to sell.',
]

/**
 * Prints load, speed, first byte and memory of server B with pocket-tts on random weights of the published size: the speech is
 * noise, but the computation depends on it only at the end of speech, which never comes here.
 */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  const path = join(folder, 'models', 'kyutai', 'pocket-tts', 'languages', 'english')
  await timed('making 110 million random weights', () => makePocketModel(path, officialSize))
  const model = { server: 'voxb-tts' } as const
  await measureFirstLoad(folder, model)
  for (const count of [1, 3, 9]) {
    print(`\n${count} ${count === 1 ? 'sentence' : 'sentences'}`)
    const input = Array.from({ length: count }, (_, at) => sentences[at % sentences.length]).join(' ')
    await measureServer(folder, model, { input, voice: 'alba' })
  }
}
