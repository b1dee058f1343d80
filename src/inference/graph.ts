/** A graph over the weights of a file: nodes, operators and tensors in one, and the states that it keeps between calls. */
import { createNodes, type Value } from './nodes.ts'
import { operatorsOf } from './operators.ts'
import type { TensorFile } from './safetensors.ts'
import { weightsOf } from './weights.ts'

/** What a graph keeps between calls: float32, zero at the start of a signal. */
export interface KeptState {
  /** Goes in as `previous_NAME` and comes out as `next_NAME`. */
  readonly name: string
  readonly shape: readonly number[]
}

/** A graph that runs piece by piece, with the states that it keeps between pieces, in the order in which they are declared. */
export interface StreamingGraph {
  readonly model: Uint8Array
  readonly states: readonly KeptState[]
}

export interface GraphOptions {
  /** The values that are given to `stage` come out too: for tests. */
  readonly stages?: boolean
}

export type Graph = ReturnType<typeof createGraph>

/** An empty graph over the tensors of `file`. */
export function createGraph(name: string, file: TensorFile, { stages = false }: GraphOptions = {}) {
  const nodes = createNodes(name)
  const operators = operatorsOf(nodes)
  const states: KeptState[] = []
  return {
    ...nodes,
    ...operators,
    ...weightsOf(nodes, file),
    previous,
    keep,
    /** Puts the kept samples in front of `x` [samples, channels] and keeps the last `samples` of both for the next call. */
    extend(state: string, x: Value, samples: number, channels: number): Value {
      if (samples === 0) return x
      const extended = operators.concat(0, previous(state, samples, channels), x)
      keep(state, operators.slice(extended, 0, -samples))
      return extended
    },
    /** Makes a value on the way an output of that name, where stages are wanted. */
    stage(part: string, value: Value, rank = 2) {
      // A value has one name: an identity leaves it to the nodes behind.
      const shape = Array.from({ length: rank }, (_, axis) => `${part}_${axis}`)
      if (stages) nodes.output(part, nodes.node('Identity', [value]), 'float32', shape)
    },
    encodeStreaming: (): StreamingGraph => ({ model: nodes.encode(), states }),
  }

  /** Declares a state as an input; `keep` must be called with its next value. */
  function previous(state: string, samples: number, channels: number): Value {
    states.push({ name: state, shape: [samples, channels] })
    return nodes.input(`previous_${state}`, 'float32', [samples, channels])
  }

  function keep(state: string, next: Value): void {
    const { shape } = states.find(({ name: known }) => known === state)!
    nodes.output(`next_${state}`, next, 'float32', shape)
  }
}
