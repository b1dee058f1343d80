/** The process in which the codec decodes in parallel with the language model. */
import { serveDecoderOf } from '../neural/decoder.ts'
import { decoderSource } from './codec.ts'

serveDecoderOf(decoderSource)
