/** The vector of a voice from a recording: it is in the prompt where a preset's row would. */
import { createGraph, type GraphOptions, type TensorFile } from '../../../src/inference/inference.ts'
import { ecapa } from '../../blocks/ecapa.ts'
import type { SpeakerFile } from './configuration.ts'

/** Input `mel` [bands, frames]; output `vector` [1, talker width]. With `stages` every block's output too. */
export function buildSpeakerEncoder(file: TensorFile, speaker: SpeakerFile, options?: GraphOptions): Uint8Array {
  const graph = createGraph('speaker_encoder', file, options)
  const mel = graph.input('mel', 'float32', [speaker.mel_dim, 'frames'])
  const shape = {
    prefix: 'speaker_encoder',
    channels: speaker.enc_channels,
    dilations: speaker.enc_dilations,
    scale: speaker.enc_res2net_scale,
  }
  const batch = graph.node('Unsqueeze', [mel, graph.integers(0)])
  graph.output('vector', ecapa(graph, shape, batch), 'float32', [1, speaker.enc_dim])
  return graph.encode()
}
