import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { removeFile, replaceFile } from '../storage/storage.ts'

/** The installed files of a model with their hashes: the pins that a later pull must find again. */
const record = z.object({
  name: z.string(),
  /** Below the models folder. */
  folder: z.string(),
  files: z.array(
    z.object({
      as: z.string(),
      repository: z.string(),
      revision: z.string(),
      path: z.string(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      bytes: z.int().min(0),
    }),
  ),
  /** Whether files came along that are licensed for non-commercial use only. */
  non_commercial: z.boolean().optional(),
  /** Milliseconds since 1970 UTC. */
  pulled_at: z.int(),
})

export type ModelRecord = z.output<typeof record>

/** The records of a models folder: one file for each model next to the models. */
export type Records = ReturnType<typeof openRecords>

/** The records of pulled models: a JSON file for each in the models' folder. */
export function openRecords(modelsFolder: string) {
  const path = (name: string) => join(modelsFolder, `${name}.json`)
  return {
    read(name: string): ModelRecord | undefined {
      try {
        const parsed = record.safeParse(JSON.parse(readFileSync(path(name), 'utf8')))
        return parsed.success && parsed.data.name === name ? parsed.data : undefined
      } catch {
        // No record, or a damaged one: the model is pulled again, which verifies the files there.
        return undefined
      }
    },
    write: (content: ModelRecord) => replaceFile(path(content.name), `${JSON.stringify(content, null, 2)}\n`, 0o644),
    remove: (name: string) => void removeFile(path(name)),
    /** True when every file is in its recorded place with its recorded length. Reads no file. */
    isWhole: ({ folder, files }: ModelRecord) =>
      files.every(
        ({ as, bytes }) => statSync(join(modelsFolder, folder, as), { throwIfNoEntry: false })?.size === bytes,
      ),
  }
}
