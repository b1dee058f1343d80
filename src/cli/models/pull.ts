import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { defaultChatModel, knownModels, nonCommercialParts } from '../../model-hub/model-hub.ts'
import { listModels, type PullPiece, pullModel, removeModel } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { openProgress } from '../terminal/progress.ts'
import { canAsk, confirm } from '../terminal/prompts.ts'
import { sizeText } from '../terminal/table.ts'

type Pulled = z.output<typeof pullModel.output>

/** Downloads a model with a progress bar. The first pull asks about files for non-commercial use only. */
export async function pull(cli: Cli, name: string, options: { readonly nonCommercial?: true } = {}): Promise<void> {
  await describe(cli, name)
  const pulled = await download(cli, name, options.nonCommercial ?? (await askAboutLicence(cli, name)))
  await print(cli, pulled, ({ bytes, downloaded, folder }) =>
    downloaded === 0
      ? `${name} is already installed, ${sizeText(bytes)} in ${folder}`
      : `${name}: ${sizeText(bytes)} in ${folder}`,
  )
  for (const line of pulled.notes) note(cli, `aichat: ${line}`)
}

/** Announces the download, with its size and licence, before it starts. */
async function describe(cli: Cli, name: string): Promise<void> {
  const model = knownModels.get(name)
  if (!model || (await isInstalled(cli, name))) return
  note(cli, `aichat: ${model.summary}`)
  note(cli, `aichat: the licence of ${name} is ${model.licence}`)
}

async function isInstalled(cli: Cli, name: string): Promise<boolean> {
  const { models } = await cli.ask(listModels, { installed: true })
  return models.some(({ id }) => id === name)
}

/** Removes a pulled model. */
export async function remove(cli: Cli, name: string): Promise<void> {
  const removed = await cli.ask(removeModel, { name })
  await print(cli, removed, ({ bytes }) => `${name} removed, ${sizeText(bytes)} freed`)
}

/** The user's consent to non-commercial licences; undefined where it cannot ask or the model is installed. */
async function askAboutLicence(cli: Cli, name: string): Promise<boolean | undefined> {
  const model = knownModels.get(name)
  const { names = [], licences = [] } = model ? nonCommercialParts(model) : {}
  if (names.length === 0 || !(cli.globals().yes || (await canAsk(cli)))) return undefined
  if (await isInstalled(cli, name)) return undefined
  return agreed(cli, `For non-commercial use only (${licences.join(', ')}): ${names.join(', ')}. Pull that too?`)
}

/** `confirm` with a boolean result. */
async function agreed(cli: Cli, question: string): Promise<boolean> {
  try {
    await confirm(cli, question)
    return true
  } catch (declined) {
    if (declined instanceof AppError && declined.code === 'found') return false
    throw declined
  }
}

/** Offers to download a small model after a chat that nothing could answer; true once it is there, for another try. */
export async function offerModel(cli: Cli, reason: AppError): Promise<boolean> {
  note(cli, `aichat: ${reason.message}.`)
  const { summary } = knownModels.get(defaultChatModel)!
  if (!(await agreed(cli, `Pull a small model that runs on this machine? ${summary}.`))) return false
  await pullWithProgress(cli, defaultChatModel)
  return true
}

/** Downloads a model with a progress bar, and says what its hub says about it. */
export async function pullWithProgress(cli: Cli, name: string): Promise<void> {
  const { notes } = await download(cli, name)
  for (const line of notes) note(cli, `aichat: ${line}`)
}

async function download(cli: Cli, name: string, nonCommercial?: boolean): Promise<Pulled> {
  const progress = openProgress(cli)
  let result: Pulled | undefined
  try {
    for await (const piece of await cli.askStream(pullModel, {
      name,
      ...given({ non_commercial: nonCommercial }),
      stream: true,
    })) {
      const { progress: at, waiting, pulled } = piece as Partial<UnionToIntersection<PullPiece>>
      if (at) progress.show(at.total === 0 ? 1 : at.received / at.total, `${sizeText(at.total)} ${at.file}`)
      if (waiting) note(cli, `aichat: waiting for another pull of ${name} to end`)
      if (pulled) result = pulled
    }
  } finally {
    progress.clear()
  }
  if (!result) throw new AppError('protocol', `The pull of ${name} ended without a result`)
  return result
}

type UnionToIntersection<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer All) => void
  ? All
  : never
