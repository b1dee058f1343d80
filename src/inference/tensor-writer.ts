/** Writes `.safetensors`, the format that `safetensors.ts` reads. */
import { createHash, randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { AppError } from '../errors.ts'
import { byteLength, type StoredType } from './safetensors.ts'

export interface NewTensor {
  readonly name: string
  readonly dtype: StoredType
  readonly shape: readonly number[]
  /** Its numbers, asked for when they are written, so that a large file never is in memory whole. */
  readonly data: () => ArrayBufferView | Promise<ArrayBufferView>
}

/** The key of a written file's metadata that holds the digest of its numbers. */
export const digestKey = 'sha256'

/** The suffix of a file until it is whole. */
export const unfinished = '.part'

/** Writes a file beside its final name, flushes and moves it; the digest of its numbers goes into its metadata. */
export async function writeTensorFile(
  path: string,
  tensors: readonly NewTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const temporary = `${path}.${randomUUID()}${unfinished}`
  const file = await open(temporary, 'wx').catch((thrown: unknown) => {
    throw new AppError('io', `${path} could not be written`, { cause: thrown })
  })
  try {
    const hash = createHash('sha256')
    const header = (digest: string) => encodeHeader(tensors, { ...metadata, [digestKey]: digest })
    await file.writeFile(header('0'.repeat(64)))
    for (const tensor of tensors) {
      const bytes = await bytesOf(tensor)
      hash.update(bytes)
      await file.writeFile(bytes)
    }
    const known = header(hash.digest('hex'))
    await file.write(known, 0, known.length, 0)
    await file.sync()
    await file.close()
    await rename(temporary, path)
  } catch (thrown) {
    await file.close().catch(() => undefined)
    await rm(temporary, { force: true })
    if (thrown instanceof AppError) throw thrown
    throw new AppError('io', `${path} could not be written`, { cause: thrown })
  }
}

/** The header is padded with spaces, so that the numbers begin at a multiple of eight bytes. */
function encodeHeader(tensors: readonly NewTensor[], metadata: Readonly<Record<string, string>>): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata }
  let end = 0
  for (const tensor of tensors) {
    const length = byteLength(tensor)
    header[tensor.name] = { dtype: tensor.dtype, shape: tensor.shape, data_offsets: [end, end + length] }
    end += length
  }
  const json = Buffer.from(JSON.stringify(header))
  const padded = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8, ' ')
  padded.writeBigUInt64LE(BigInt(padded.length - 8))
  json.copy(padded, 8)
  return padded
}

async function bytesOf(tensor: NewTensor): Promise<Uint8Array> {
  const data = await tensor.data()
  if (data.byteLength !== byteLength(tensor)) throw new RangeError(`${tensor.name} has not the length of its shape`)
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}
