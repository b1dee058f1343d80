import { readFileSync, writeFileSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { SpeechEngine } from '../../../speech/engines/engine.ts'
import type { AppError } from '../../../src/errors.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import { type NewTensor, writeTensorFile } from '../../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

/** Loads a model and closes it again; gives back why it was refused. */
export async function refusalOf(engine: SpeechEngine): Promise<AppError | undefined> {
  try {
    await engine.load()
    return undefined
  } catch (thrown) {
    return thrown as AppError
  } finally {
    await engine.close()
  }
}

/** Copies of a tiny model that a test may spoil, and how an engine loads them. */
export function spoiltModels(
  make: (folder: string) => Promise<unknown>,
  open: (places: { readonly folder: string; readonly cacheFolder: string }) => SpeechEngine,
) {
  const original = join(temporaryFolder(), 'tiny')
  const made = make(original)
  const load = (folder: string, cacheFolder = temporaryFolder()) => refusalOf(open({ folder, cacheFolder }))
  return {
    load,
    async copyOfModel(): Promise<string> {
      await made
      const folder = join(temporaryFolder(), 'copy')
      await cp(original, folder, { recursive: true })
      return folder
    },
    async assertNamed(folder: string, ...says: readonly RegExp[]): Promise<void> {
      const refusal = await load(folder)
      assert.ok(refusal, 'it was loaded')
      assert.is(refusal.code, 'unavailable', refusal.stack)
      const said = [refusal.message, ...refusal.details].join('\n')
      for (const pattern of says) assert.match(said, pattern)
    },
  }
}

/** Writes a weights file anew with other tensors. */
export async function rewrite(path: string, change: (tensor: NewTensor) => readonly NewTensor[]): Promise<void> {
  const file = await openTensorFile(path)
  const tensors: NewTensor[] = []
  for (const { name, dtype, shape } of file.tensors.values()) {
    const data = await file.bytes(name)
    tensors.push(...change({ name, dtype, shape, data: () => data }))
  }
  await file.close()
  await writeTensorFile(path, tensors)
}

export type Content = Record<string, unknown>

export function edit(path: string, change: (content: Content) => void): void {
  const content = JSON.parse(readFileSync(path, 'utf8')) as Content
  change(content)
  writeFileSync(path, JSON.stringify(content))
}

/** The files of quantised weights in a cache. */
export async function quantisedIn(cacheFolder: string): Promise<readonly string[]> {
  return (await readdir(cacheFolder)).filter((name) => name.endsWith('.safetensors')).sort()
}
