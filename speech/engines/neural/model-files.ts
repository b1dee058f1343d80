/** The settings and tensors of a model's files: read, and refused with all that is wrong. */
import { readFile } from 'node:fs/promises'
import type { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import {
  type ExpectedTensors,
  shownProblems,
  type TensorFile,
  tensorProblems,
  unknownTensors,
} from '../../../src/inference/inference.ts'
import type { CodecBooks } from '../../blocks/residual-vectors.ts'
import { kyutaiLayers, type TransformerShape, type TransformerSize } from '../../blocks/transformer.ts'

/** The content of a file. Throws `unavailable` for one that is missing or cannot be read. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    throw new AppError('unavailable', `${path} ${isMissing ? 'is missing' : 'cannot be read'}`, { cause })
  }
}

/** The content of a JSON file; `otherwise` where it is missing. Throws an AppError that names the file. */
export async function readJson(path: string, otherwise?: unknown): Promise<unknown> {
  let text: string
  try {
    text = String(await readBytes(path))
  } catch (thrown) {
    if (otherwise !== undefined && (thrown as AppError).message.endsWith('is missing')) return otherwise
    throw thrown
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('invalid', `${path} is not JSON`, { cause })
  }
}

/** The settings in a JSON file. Throws an AppError naming the file and all that is wrong; `model` names the kind of model. */
export async function readSettings<T extends z.ZodType>(
  path: string,
  schema: T,
  model: string,
  otherwise?: unknown,
): Promise<z.output<T>> {
  const parsed = schema.safeParse(await readJson(path, otherwise))
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`)
  throw foreignSettings(path, model, problems)
}

/** Throws an AppError naming the file of settings if there are problems. */
export function refuseSettings(path: string, model: string, problems: readonly string[]): void {
  if (problems.length > 0) throw foreignSettings(path, model, problems)
}

function foreignSettings(path: string, model: string, problems: readonly string[]): AppError {
  return new AppError('invalid', `${path} is not the configuration of a ${model} model`, {
    details: problems.slice(0, shownProblems),
  })
}

/** The shapes of tensors by their names: numbers, and names of sizes. A star in a name stands for an index. */
export type TensorTable = Readonly<Record<string, readonly (number | string)[]>>

/** Adds the tensors of a table to those that are expected; the indices take the places of the stars in their order. */
export function expectTensors(
  expected: ExpectedTensors,
  table: TensorTable,
  sizes: Readonly<Record<string, number>>,
  ...indices: readonly (number | string)[]
): void {
  for (const [name, shape] of Object.entries(table)) {
    const whole = indices.reduce<string>((text, index) => text.replace('*', String(index)), name)
    expected.set(
      whole,
      shape.map((size) => (typeof size === 'number' ? size : sizes[size]!)),
    )
  }
}

/** Adds the tensors of codebooks, of `[entries, size]` each, and their projections `[out, in]`. */
export function expectBooks(
  expected: ExpectedTensors,
  { first, rest, projections }: CodecBooks,
  [entries, size]: readonly [number, number],
  projection: readonly [number, number],
): void {
  for (const { sums, counts } of [...first, ...rest]) {
    expected.set(sums, [entries, size])
    expected.set(counts, [entries])
  }
  for (const name of Object.values(projections)) expected.set(`${name}.weight`, [...projection, 1])
}

/** Adds the tensors of a transformer, by the names of its recipe; `hasFactors` says whether its outputs are scaled. */
export function expectLayers(expected: ExpectedTensors, shape: TransformerShape, hasFactors: boolean): void {
  const { width, feedForward, headSize, heads, keyValueHeads = heads, names, norm } = shape
  for (let layer = 0; layer < shape.layers; layer++) {
    const expect = (name: string | undefined, ...size: number[]) =>
      name !== undefined && expected.set(`${shape.prefix}.layers.${layer}.${name}`, size)
    for (const name of [names.attentionNorm, names.feedForwardNorm]) {
      expect(name, width)
      if (norm === 'layer') expect(name.replace('weight', 'bias'), width)
    }
    if (typeof names.projections === 'string') expect(names.projections, 3 * width, width)
    else {
      expect(names.projections.query, heads * headSize, width)
      expect(names.projections.key, keyValueHeads * headSize, width)
      expect(names.projections.value, keyValueHeads * headSize, width)
    }
    expect(names.queryNorm, headSize)
    expect(names.keyNorm, headSize)
    expect(names.output, width, heads * headSize)
    if (typeof names.gate === 'string') expect(names.gate, feedForward, width)
    expect(names.up, feedForward, width)
    expect(names.down, width, feedForward)
    if (!hasFactors) continue
    expect(names.attentionScale, width)
    expect(names.feedForwardScale, width)
  }
}

/** The same for layers of Kyutai's; the heads that the file does not show share the width in any case. */
export function expectKyutaiLayers(expected: ExpectedTensors, size: TransformerSize, hasFactors: boolean): void {
  const shape = { ...size, ...kyutaiLayers('erf'), heads: 1, headSize: size.width, period: 1, epsilon: 0 }
  expectLayers(expected, shape, hasFactors)
}

/** How many different N there are in `prefix.N.…`; a gap among them shows later, as a missing tensor. */
export function countNumbered(tensors: ReadonlyMap<string, unknown>, prefix: string): number {
  const found = new Set<string | undefined>()
  for (const name of tensors.keys())
    if (name.startsWith(`${prefix}.`)) found.add(name.slice(prefix.length + 1).split('.', 1)[0])
  return found.size
}

export interface TensorCheck {
  /** What the file should be. */
  readonly what: string
  readonly expected: ExpectedTensors
  /** Problems beside those of single tensors. */
  readonly others?: readonly string[]
  /** Tensors of the published files that no part of the engine needs. */
  readonly unused?: RegExp
  /** The authors' spelling of a name. */
  spell?(name: string): string
}

/** Throws an AppError that names the file and the tensors that are missing or of another shape. */
export function checkTensors(file: TensorFile, { what, expected, others = [], unused, spell }: TensorCheck): void {
  const found = [...new Set([...tensorProblems(file.tensors, expected), ...others])]
  const problems = spell ? found.map((problem) => problem.replace(/^\S+/, spell)) : found
  if (problems.length === 0) return
  // An unknown tensor alone does no harm; together with a missing one it hints at a renaming.
  const hints = problems.some((problem) => problem.endsWith('is missing'))
    ? unknownTensors(file.tensors, expected)
        .filter((hint) => !unused?.test(hint))
        .slice(0, 5)
    : []
  throw new AppError('invalid', `${file.path} is not the weights file of ${what}`, {
    details: [...problems.slice(0, shownProblems - hints.length), ...hints],
  })
}
