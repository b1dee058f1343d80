/** The vector of a voice from a recording: it is in the prompt where a preset's row would. */
import { createGraph, createWeights, integers, type TensorFile, type Value } from '../../../src/inference/inference.ts'
import { ecapa } from '../../blocks/ecapa.ts'
import type { SpeakerFile } from './configuration.ts'
import type { GraphOptions } from './language-graphs.ts'

/** Input `mel` [bands, frames]; output `vector` [1, talker width]. With `stages` every block's output too. */
export function buildSpeakerEncoder(file: TensorFile, speaker: SpeakerFile, options: GraphOptions = {}): Uint8Array {
  const graph = createGraph('speaker_encoder')
  const weights = createWeights(graph, file)
  const mel = graph.input('mel', 'float32', [speaker.mel_dim, 'frames'])
  const stage = (name: string, value: Value) => {
    if (options.stages)
      graph.output(name, graph.node('Identity', [value]), 'float32', [1, `${name}_rows`, `${name}_size`])
  }
  const shape = {
    prefix: 'speaker_encoder',
    channels: speaker.enc_channels,
    dilations: speaker.enc_dilations,
    scale: speaker.enc_res2net_scale,
  }
  const batch = graph.node('Unsqueeze', [mel, integers(graph, 0)])
  graph.output('vector', ecapa(weights, shape, batch, stage), 'float32', [1, speaker.enc_dim])
  return graph.encode()
}
