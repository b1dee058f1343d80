import type { z } from 'zod'
import { AppError } from '../errors.ts'
import { defaultChatModel, knownModels } from '../hub/known-models.ts'
import { listModels } from '../operations/models.ts'
import { currentPlugin } from '../operations/plugins.ts'
import { type PullPiece, pullModel, removeModel } from '../operations/pulled-models.ts'
import { type Cli, confirm, mayAsk, note, show } from './cli.ts'
import { openProgress } from './progress.ts'

type Pulled = z.output<typeof pullModel.output>

/** Pulls a model, with a bar while it comes. */
export async function runPull(cli: Cli, name: string): Promise<void> {
  const pulled = await pull(cli, name)
  await show(cli, pulled, ({ bytes, downloaded, folder }) =>
    downloaded === 0
      ? `${name} was there already, ${megabytes(bytes)} in ${folder}`
      : `${name}: ${megabytes(bytes)} in ${folder}`,
  )
  for (const line of pulled.notes) note(cli, `aichat: ${line}`)
}

/** Removes a pulled model. */
export async function runRemove(cli: Cli, name: string): Promise<void> {
  const removed = await cli.ask(removeModel, { name })
  await show(cli, removed, ({ bytes }) => `${name} removed, ${megabytes(bytes)} are free again`)
}

/**
 * After a chat that nobody could answer: where somebody sits there and no runner is set up at all, offers to pull a small
 * model. True when it was pulled and the chat is worth another try.
 */
export async function offerModel(cli: Cli, reason: unknown): Promise<boolean> {
  if (!(reason instanceof AppError) || reason.code !== 'unavailable' || !(await mayAsk(cli))) return false
  if (await cli.ask(currentPlugin, {})) return false
  const { models } = await cli.ask(listModels, { installed: true })
  if (models.some(({ type }) => type === 'chat')) return false
  note(cli, `aichat: ${reason.message}.`)
  try {
    await confirm(cli, `Pull a small model that runs on this machine? ${knownModels.get(defaultChatModel)!.summary}.`)
  } catch (declined) {
    if (declined instanceof AppError && declined.code === 'found') return false
    throw declined
  }
  const { notes } = await pull(cli, defaultChatModel)
  for (const line of notes) note(cli, `aichat: ${line}`)
  return true
}

async function pull(cli: Cli, name: string): Promise<Pulled> {
  const progress = openProgress(cli)
  let result: Pulled | undefined
  try {
    for await (const piece of await cli.askStream(pullModel, { name, stream: true })) {
      const { progress: at, waiting, pulled } = piece as Partial<UnionToIntersection<PullPiece>>
      if (at) progress.show(at.total === 0 ? 1 : at.received / at.total, `${megabytes(at.total)} ${at.file}`)
      if (waiting) note(cli, `aichat: another pull of ${name} is under way; waiting for it`)
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

function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`
}
