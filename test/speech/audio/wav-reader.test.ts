import * as assert from 'uvu/assert'
import { wavHeader } from '../../../speech/audio/wav.ts'
import { collectSamples } from '../../../speech/audio/wav-reader.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('samples of a WAV stream')

test('a stated size within the stream ends the samples, any other leaves that to the end of the stream', async () => {
  for (const [stated, expected] of [
    [undefined, 100],
    [0, 100],
    [101, 100],
    [100, 100],
    [98, 98],
  ] as const)
    for (const pieceSize of [7, 44, 200]) {
      const wav = Buffer.concat([wavHeader(24_000, stated), Buffer.alloc(100, 1)])
      async function* pieces() {
        for (let at = 0; at < wav.length; at += pieceSize) yield wav.subarray(at, at + pieceSize)
      }
      const { samples, sampleRate } = await collectSamples(pieces())
      assert.equal([samples, sampleRate], [Buffer.alloc(expected, 1), 24_000])
    }
})

test.run()
