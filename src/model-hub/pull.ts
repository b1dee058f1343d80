import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { signatureMismatch } from '../formats/formats.ts'
import { digestFile } from './digest.ts'
import { bytesHere, download, type Wanted } from './download.ts'
import { type Edition, type KnownFile, type KnownModel, nonCommercialParts } from './known-models.ts'
import type { ModelRecord, Records } from './record.ts'
import { type FileInfo, HubBusy, type Transfer } from './transfer.ts'

export interface Pulled {
  readonly name: string
  /** The absolute path of the model's folder. */
  readonly folder: string
  readonly bytes: number
  /** Bytes that came over the line; 0 when everything was there and verified. */
  readonly downloaded: number
  /** Files compared with the hub's own digest only, since none is published. */
  readonly unpinned: readonly string[]
  readonly notes: readonly string[]
}

/** How far a pull is, in bytes of all files together. */
export interface PullProgress {
  readonly file: string
  readonly received: number
  readonly total: number
}

export interface Plan {
  readonly model: KnownModel
  /** Whether to pull files licensed for non-commercial use only. */
  readonly nonCommercial: boolean
  readonly modelsFolder: string
  readonly records: Records
  readonly transfer: Transfer
  readonly freeBytes: (folder: string) => Promise<number>
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly onProgress: (progress: PullProgress) => void
  readonly signal: AbortSignal | undefined
}

type RecordedFile = ModelRecord['files'][number]

/** Room that is left free on the disk: bytes. */
const reserve = 32 * 1024 * 1024

const triesToAsk = 4

/** Brings one edition's files to their places and records their hashes. */
export async function pullEdition(plan: Plan, edition: Edition): Promise<Pulled> {
  const { model, modelsFolder, records } = plan
  const folder = join(modelsFolder, edition.folder)
  const pins = pinsOf(records.read(model.name), edition)
  const done = new Map<string, RecordedFile>()
  const wanted: { readonly known: KnownFile; readonly expected: Wanted }[] = []
  const files = edition.files.filter((file) => plan.nonCommercial || file.nonCommercial === undefined)
  for (const known of files) {
    const expected = await identify(plan, known, join(folder, known.as), pins.get(known.as))
    const sha256 = await hashOfThere(expected, plan.signal)
    if (sha256 === undefined) wanted.push({ known, expected })
    else done.set(known.as, recorded(known, sha256, expected.bytes))
  }

  const sizes = wanted.map(({ expected }) => expected.bytes)
  const total = sum(sizes)
  const here = sum(await Promise.all(wanted.map(({ expected }) => bytesHere(expected))))
  await requireRoom(plan, total - here)

  let before = 0
  for (const { known, expected } of wanted) {
    const onBytes = (bytes: number) => plan.onProgress({ file: known.path, received: before + bytes, total })
    const sha256 = await download(expected, { ...plan, onBytes })
    done.set(known.as, recorded(known, sha256, expected.bytes))
    before += expected.bytes
  }
  const placed = files.map(({ as }) => done.get(as)!)
  const { name } = model
  records.write({
    name,
    folder: edition.folder,
    files: placed,
    non_commercial: plan.nonCommercial,
    pulled_at: Date.now(),
  })
  const bytes = sum(placed.map((file) => file.bytes))
  const unpinned = files.filter(({ sha256 }) => sha256 === undefined).map(({ as }) => as)
  const notes = [...unchecked(model, unpinned, files.length), ...(plan.nonCommercial ? [] : leftOut(model))]
  return { name, folder, bytes, downloaded: total - here, unpinned, notes }
}

/** Notes on files that only the hub's own digest vouches for. */
function unchecked({ name }: KnownModel, unpinned: readonly string[], files: number): readonly string[] {
  if (unpinned.length === 0) return []
  const which = unpinned.length === files ? `nothing of ${name}` : `of ${name} not ${unpinned.join(', ')}`
  return [
    `${which} was checked against a published SHA-256, since none is known; it matches the hub's own digest`,
    'its hash is recorded, and every later pull on this machine must find the same',
  ]
}

/** Notes on the parts left out, and the command that adds them. */
function leftOut(model: KnownModel): readonly string[] {
  const { names, licences } = nonCommercialParts(model)
  if (names.length === 0) return []
  return [
    `left out, since it may be used for non-commercial purposes only (${licences.join(', ')}): ${names.join(', ')}`,
    `to have that too: \`aichat models pull ${model.name} --non-commercial\``,
  ]
}

interface Pin {
  readonly sha256: string
  readonly bytes: number | undefined
}

/** The expected hashes: as published, else as the first pull found them at the same commit. */
function pinsOf(record: ModelRecord | undefined, edition: Edition): ReadonlyMap<string, Pin> {
  const pins = new Map<string, Pin>()
  for (const { as, repository, revision, path, sha256, bytes } of edition.files) {
    const earlier = record?.files.find(
      (file) => file.repository === repository && file.revision === revision && file.path === path,
    )
    if (sha256) pins.set(as, { sha256, bytes })
    else if (earlier) pins.set(as, earlier)
  }
  return pins
}

/** The SHA-256 of the installed file, when it is the expected one. */
async function hashOfThere(
  { file, target, bytes, digest }: Wanted,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const size = (await stat(target).catch(() => undefined))?.size
  if (size !== bytes) return undefined
  const { sha256, matches } = await digestFile(target, bytes, digest, signal)
  return matches && (await signatureMismatch(target, file.path)) === undefined ? sha256 : undefined
}

/** The expected size and digest of a file: by the pins where they are complete, else by the hub's description. */
async function identify(plan: Plan, file: KnownFile, target: string, pin: Pin | undefined): Promise<Wanted> {
  if (pin?.bytes !== undefined) return { file, target, bytes: pin.bytes, digest: { kind: 'sha256', hex: pin.sha256 } }
  const info = await describeWithRetries(plan, file)
  const digest = pin ? ({ kind: 'sha256', hex: pin.sha256 } as const) : info.digest
  if (info.bytes === undefined || !digest)
    throw new AppError('protocol', `The model hub gives no length or digest for ${file.path}`, {
      details: ['without them a download cannot be verified; use another hub (HF_ENDPOINT)'],
    })
  return { file, target, bytes: info.bytes, digest }
}

async function describeWithRetries({ transfer, sleep, signal }: Plan, file: KnownFile): Promise<FileInfo> {
  for (let tries = 1; ; tries++) {
    try {
      return await transfer.describe(file, signal)
    } catch (reason) {
      if (!(reason instanceof HubBusy)) throw reason
      if (tries >= triesToAsk)
        throw new AppError('unavailable', `The model hub cannot be asked: ${reason.message}`, { cause: reason })
      await sleep(reason.waitMs ?? 500 * 2 ** tries, signal)
    }
  }
}

async function requireRoom({ modelsFolder, freeBytes, model }: Plan, needed: number): Promise<void> {
  if (needed === 0) return
  const free = await freeBytes(modelsFolder)
  if (free >= needed + reserve) return
  throw new AppError('io', `Not enough disk space for ${model.name}`, {
    details: [
      `${megabytes(needed)} are needed in ${modelsFolder}, where ${megabytes(free)} are free`,
      'make room, or choose another folder with AICHAT_MODELS_DIR',
    ],
  })
}

function recorded({ as, repository, revision, path }: KnownFile, sha256: string, bytes: number): RecordedFile {
  return { as, repository, revision, path, sha256, bytes }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
