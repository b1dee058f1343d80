/** The process in which the codec decodes in parallel with the language model. */
import { serveDecoder } from '../neural/serve-decoder.ts'
import { decoderSource } from './codec.ts'

serveDecoder(decoderSource)
