import { open } from 'node:fs/promises'
import { extname } from 'node:path'

/** How files begin, by the ending of their names; in Latin-1. */
const beginnings: Readonly<Record<string, readonly [pattern: RegExp, format: string]>> = {
  '.json': [/^\s*\{/, 'a JSON object'],
  // https://huggingface.co/docs/safetensors: the header's length, and the header.
  '.safetensors': [/^[\s\S]{8}\{/, 'a safetensors file'],
  // https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: the magic and the version.
  '.gguf': [/^GGUF[\x02\x03]\0{3}/, 'a GGUF model'],
  '.wav': [/^RIFF[\s\S]{4}WAVE/, 'a WAV file'],
  // https://github.com/onnx/onnx/blob/main/onnx/onnx.proto: ModelProto.ir_version, the first field.
  '.onnx': [/^\x08[\x03-\x20]/, 'an ONNX model'],
  // https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto: ModelProto.pieces
  '.model': [/^\x0a/, 'a SentencePiece model'],
}

/**
 * The mismatch between a downloaded file and the ending of its name on the hub, by its first bytes: `not an ONNX model`. An
 * HTML error page has a length and a hash like any other file. Undefined when it fits.
 */
export async function signatureMismatch(path: string, name: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0)
    const start = buffer.toString('latin1', 0, bytesRead)
    if (/^\s*<(?:!doctype|html|\?xml|head|body)/i.test(start)) return 'a web page'
    const [pattern, format] = beginnings[extname(name).toLowerCase()] ?? []
    return pattern && !pattern.test(start) ? `not ${format}` : undefined
  } finally {
    await file.close()
  }
}
