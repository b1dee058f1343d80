/**
 * ONNX graphs and sessions, weights, quantisation and sampling, for the chat models of `runners` and for the voices.
 * Uses: `formats`; onnxruntime-node.
 * Begin with: `session.ts`, `graph.ts`, `safetensors.ts`.
 */
export { type ExpectedTensors, shownProblems, tensorProblems, unknownTensors } from './expected-tensors.ts'
export { requireFinite } from './finite.ts'
export { createGraph, type Graph, type GraphOptions, type KeptState, type StreamingGraph } from './graph.ts'
export { contributed, type Value } from './nodes.ts'
export type { GeluForm } from './operators.ts'
export { type ReadField, readMessage } from './protobuf.ts'
export { openQuantised, type QuantisationPlan } from './quantisation.ts'
export {
  fileIdentity,
  openTensorFile,
  type TensorEntry,
  type TensorFile,
  weightsFolder,
} from './safetensors.ts'
export { createSampler, type SamplingOptions } from './sampling.ts'
export {
  floats,
  isRuntimePresent,
  openSession,
  runtimeAdvice,
  type Session,
  type SessionOptions,
  type TensorData,
  type Tensors,
} from './session.ts'
export { partName, withNames, withParts } from './tensor-parts.ts'
