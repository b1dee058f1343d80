/** Whether weights are numbers at all: one that is not finite makes everything behind it so. */
import { AppError } from '../errors.ts'
import type { StoredType, TensorEntry, TensorFile } from './safetensors.ts'

/** Exponent bits in the last word of a number, by its bytes: all set in numbers that are not finite. */
const exponents: Partial<Record<StoredType, { readonly bytes: 2 | 4 | 8; readonly mask: number }>> = {
  F16: { bytes: 2, mask: 0x7c00 },
  BF16: { bytes: 2, mask: 0x7f80 },
  F32: { bytes: 4, mask: 0x7f800000 },
  F64: { bytes: 8, mask: 0x7ff00000 },
}

/** Reads every floating-point tensor; throws an AppError that names the file and those that hold numbers that are not finite. */
export async function requireFinite(file: TensorFile): Promise<void> {
  const problems: string[] = []
  for (const entry of file.tensors.values())
    if (!(await isFiniteTensor(file, entry))) problems.push(`${entry.name} holds numbers that are not finite`)
  if (problems.length > 0)
    throw new AppError('invalid', `${file.path} holds weights that are not finite`, { details: problems.slice(0, 20) })
}

/** Bytes of a tensor that are in memory at a time. */
const pieceBytes = 32 * 2 ** 20

async function isFiniteTensor(file: TensorFile, { name, dtype, shape, length }: TensorEntry): Promise<boolean> {
  const exponent = exponents[dtype]
  if (!exponent || length === 0) return true
  const [rows = 1] = shape
  const step = Math.max(1, Math.floor((rows * pieceBytes) / length))
  for (let row = 0; row < rows; row += step) {
    const bytes = await file.rowBytes(name, row, Math.min(step, rows - row))
    if (!areFinite(bytes, exponent.bytes, exponent.mask)) return false
  }
  return true
}

function areFinite(bytes: Uint8Array, size: 2 | 4 | 8, mask: number): boolean {
  const words =
    size === 2
      ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
      : new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const step = size === 8 ? 2 : 1
  for (let at = step - 1; at < words.length; at += step) if ((words[at]! & mask) === mask) return false
  return true
}
