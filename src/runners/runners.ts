/**
 * Models on this machine: Ollama, the built-in chat models and the embedders.
 * Uses: `inference`, `process`, `plugins`, `word-vectors`, and the shapes of `chat` and `personas` that a runner fulfils.
 * Begin with: `ollama.ts`, `onnx-runner.ts`, `embedder.ts`.
 */

export { createEmbedders } from './embedder.ts'
export { createBuiltinEmbedder } from './embedder-builtin.ts'
export { createOllamaEmbeddings } from './embedder-ollama.ts'
export { createOllamaRunner, type OllamaRunner } from './ollama.ts'
export { createOnnxRunner, type OnnxRunner } from './onnx-runner.ts'
export { createPulledEmbedder, embeddingForms, type PulledEmbedder } from './pulled-embedder.ts'
