import { statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { FileError } from '../../formats/formats.ts'
import type { ArrivalOptions } from '../arrival/arrival.ts'
import { type Persona, scopeOf } from '../persona.ts'
import { isSmall } from './archive.ts'
import { type ArrivalImportParts, importArrival } from './import-arrival.ts'
import { importPackage, type PackageImportParts } from './import-package.ts'
import type { Imported, VerifyResult } from './outcomes.ts'
import { diskBytes, isSmallPackage } from './package-size.ts'
import type { Scratch } from './scratch.ts'
import { failedVerification } from './verify.ts'
import { decryptPackage, openForImport, type PlainPackage } from './verify-file.ts'
import type { ImportRequest, WriteInChild } from './write-task.ts'

export interface ImportParts extends PackageImportParts, ArrivalImportParts {
  readonly scratch: Scratch
  /** Imports large packages in a child process; without it everything is done in this process. */
  readonly runInChild?: WriteInChild
}

/**
 * Imports a package, or a file of another program (see personas/arrival), as a persona of `owner`; the owner that the file
 * names is ignored. Throws `invalid` naming every problem; then nothing was written.
 */
export type Import = (owner: string, path: string, request: ImportRequest, signal?: AbortSignal) => Promise<Imported>

export function createImport(parts: ImportParts): Import {
  const { archive, personas, scratch } = parts

  return async (owner, path, request, signal) => {
    const named = await namedPersona(owner, request)
    const plain = await decryptPackage(path, scratch, request.passphrase, signal)
    try {
      if (parts.runInChild && !(await isQuick(plain, request, named)))
        return await importInChild(parts.runInChild, owner, plain.path, { ...request, persona: named?.id }, signal)
      const options: ArrivalOptions = { after: request.after, withAnswers: request.with_answers, now: parts.now() }
      const { openByKind, openByNames } = await import('../arrival/open.ts')
      const foreign = orInvalid(() => openByKind(plain.path, plain.kind, options))
      if (foreign) return await importArrival(parts, owner, foreign, request, signal)
      const { result, source } = await openForImport(plain)
      if (!source) {
        const isForeign = result.kind === 'unsupported' && plain.kind === 'json'
        const arrival = isForeign ? openByNames(plain.path, options) : undefined
        if (arrival) return await importArrival(parts, owner, arrival, request, signal)
        throw invalidPackage(result)
      }
      try {
        refuseForeignOptions(request)
        const weight = diskBytes(result.form, statSync(plain.path).size)
        return await importPackage(parts, { owner, request, source, result, weight, signal })
      } finally {
        source.close()
      }
    } finally {
      await plain.discard()
    }
  }

  async function namedPersona(owner: string, { mode, persona }: ImportRequest): Promise<Persona | undefined> {
    return mode === 'create' || persona === undefined ? undefined : personas.get(owner, persona)
  }

  async function isQuick(plain: PlainPackage, { mode }: ImportRequest, named: Persona | undefined): Promise<boolean> {
    if (!isSmallPackage(plain)) return false
    return mode === 'create' || (named !== undefined && isSmall(await archive.extent(scopeOf(named))))
  }

  async function importInChild(
    runInChild: WriteInChild,
    owner: string,
    path: string,
    { passphrase: _passphrase, ...request }: ImportRequest,
    signal: AbortSignal | undefined,
  ): Promise<Imported> {
    const model = parts.defaultModel()
    const defaultModel = model === undefined ? {} : { defaultModel: model }
    const task = { action: 'import', owner, path, request, now: parts.now(), ...defaultModel } as const
    return (await runInChild(task, signal)) as Imported
  }
}

/** A package is imported whole, under its own name. */
function refuseForeignOptions({ name, after, with_answers }: ImportRequest): void {
  if (name === undefined && after === undefined && !with_answers) return
  throw new AppError('invalid', 'A package is imported whole', {
    details: ['name, after and with_answers are for files of other programs'],
  })
}

/** Opens a file. Throws for a file that cannot be read as for a package. */
function orInvalid<T>(open: () => T): T {
  try {
    return open()
  } catch (reason) {
    if (reason instanceof FileError) throw invalidPackage(failedVerification(reason))
    throw reason
  }
}

function invalidPackage({ kind, problems }: VerifyResult): AppError {
  const descriptions = {
    damaged: 'is damaged',
    unsupported: 'cannot be read here',
    not_authenticated: 'cannot be authenticated',
  }
  // The one problem of a file that is no package names the file's format: it is the message.
  const [only, ...others] = problems
  if (kind === 'unsupported' && only !== undefined && others.length === 0)
    return new AppError('invalid', `${only.replace(/[.;]$/, '')}; nothing was imported`)
  return new AppError('invalid', `The package ${descriptions[kind ?? 'damaged']}; nothing was imported`, {
    details: problems,
  })
}
