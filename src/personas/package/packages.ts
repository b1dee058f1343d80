import { rmSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { type Persona, scopeOf } from '../persona.ts'
import { type ExportedFile, type ExportRequest, exportedFile } from './exported-file.ts'
import { createImport, type ImportParts } from './import.ts'
import type { VerifyResult } from './outcomes.ts'
import { verifyPackage } from './verify-file.ts'
import { type PackageWriter, removedMeanwhile } from './write-package.ts'

/** Export, import and verification of whole personas. An aborted `signal` stops the work; then nothing is left of it. */
export type PersonaPackages = ReturnType<typeof createPersonaPackages>

export interface PersonaPackagesParts extends ImportParts {
  readonly writer: PackageWriter
  /** The scrypt work of a passphrase, as a power of two; by default that of age. */
  readonly workFactor?: number
}

export function createPersonaPackages(parts: PersonaPackagesParts) {
  const { writer, scratch, now, workFactor } = parts
  return {
    export: exportPersona,
    import: createImport(parts),
    verify: (path: string, passphrase?: string, signal?: AbortSignal) =>
      verifyPackage(path, scratch, { passphrase, signal }),
    /** Verifies a stored persona: its records, and that its state is the one its log gives. */
    async verifyStored(persona: Persona, signal?: AbortSignal): Promise<VerifyResult> {
      const result = await writer.verify(scopeOf(persona), signal)
      if (!result) throw removedMeanwhile(persona.id)
      return result
    },
  }

  async function exportPersona(persona: Persona, request: ExportRequest, signal?: AbortSignal): Promise<ExportedFile> {
    const { passphrase, format, embeddings } = request
    const isCard = format === 'card' || format === 'card_png'
    if (passphrase !== undefined && isCard)
      throw new AppError('invalid', 'A character card is made to be passed around and is not encrypted')
    const path = scratch.path()
    const encrypted = `${path}.age`
    try {
      const form = format === 'container' ? 'container' : 'document'
      const write = () => {
        if (format === 'card' || format === 'card_png') return writer.card(scopeOf(persona), path, format, signal)
        if (format === 'jsonl') return writer.lines(scopeOf(persona), path, signal)
        return writer.write(scopeOf(persona), { path, form, embeddings, exportedAt: now() }, signal)
      }
      const written = await write()
      if (!written) throw removedMeanwhile(persona.id)
      const sums = written === true ? {} : written
      if (passphrase === undefined) return exportedFile(path, persona, request, sums)
      const { encryptFile } = await import('../../formats/age-file.ts')
      await encryptFile(path, encrypted, passphrase, workFactor, signal)
      rmSync(path)
      return exportedFile(encrypted, persona, request, sums)
    } catch (reason) {
      for (const each of [path, encrypted]) rmSync(each, { force: true })
      throw reason
    }
  }
}
