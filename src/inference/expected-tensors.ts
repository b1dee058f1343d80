/** Whether a weights file holds the tensors that a model needs. */
import type { TensorEntry } from './safetensors.ts'

/** The shape of every tensor by its name. */
export type ExpectedTensors = Map<string, readonly number[]>

/** Of hundreds of invalid tensors the first ones are named. */
export const shownProblems = 20

const floatingPoint: readonly string[] = ['F32', 'BF16', 'F16', 'F64']

/** A sentence for every tensor that is missing, of another shape, empty, or no floating-point numbers. */
export function tensorProblems(tensors: ReadonlyMap<string, TensorEntry>, expected: ExpectedTensors): string[] {
  const problems: string[] = []
  for (const [name, shape] of expected) {
    const found = tensors.get(name)
    if (!found) problems.push(`${name} is missing`)
    else if (`${found.shape}` !== `${shape}`) problems.push(`${name} has shape [${found.shape}], expected [${shape}]`)
    else if (found.shape.some((size) => size === 0)) problems.push(`${name} is empty`)
    else if (!floatingPoint.includes(found.dtype))
      problems.push(`${name} holds ${found.dtype}, expected floating-point numbers`)
  }
  return problems
}

/** A sentence for every unknown tensor: together with a missing one it shows the new name after a renaming. */
export function unknownTensors(tensors: ReadonlyMap<string, TensorEntry>, expected: ExpectedTensors): string[] {
  return [...tensors.keys()].filter((name) => !expected.has(name)).map((name) => `${name} is not known`)
}
