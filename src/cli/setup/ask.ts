import type { App } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { defaultChatModel, knownModels } from '../../model-hub/model-hub.ts'
import { pullWithProgress } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { askTerminal } from '../terminal/prompts.ts'
import { chooseModel } from './choose-model.ts'
import type { Found } from './found.ts'
import { keepLocal, keepProvider } from './keep.ts'
import { chooseOllamaModel } from './local.ts'
import { askProvider, type Tried, tryOut } from './provider.ts'
import { askServer } from './server.ts'

/** Asks who is to answer, unless one provider alone has its key, and keeps that. Returns the model as -m names it. */
export async function chooseSource(cli: Cli, app: App, found: Found, wanted?: string): Promise<string | undefined> {
  const ready = found.providers.filter(({ key_set, active }) => key_set && !active)
  const isNew = found.model === undefined
  // The provider that a question names, or that is active, lacks its key alone.
  const named = found.providers.find(({ id, active }) => (wanted === undefined ? active : wanted.startsWith(`${id}:`)))
  if (isNew && named && !named.key_set) {
    const tried = await askProvider(cli, app, found, app.plugins.export(named.id))
    if (tried) return keepChosen(cli, app, tried)
  } else if (isNew && ready.length === 1 && !found.ollama.reachable) {
    const [{ id, auth, name }] = ready as [(typeof ready)[0]]
    if (auth.key_env !== '') note(cli, `aichat: ${auth.key_env} is set: ${name} can answer`)
    const kept = await keepStored(cli, app, id)
    if (kept !== undefined) return kept
  }
  for (;;) {
    const source = await askTerminal<string>(cli, {
      type: 'select',
      message: 'Who shall answer?',
      choices: choicesOf(found, ready),
    })
    if (source === 'nothing') return undefined
    if (source === 'small') {
      await pullWithProgress(cli, defaultChatModel)
      return keepLocal(cli, app, defaultChatModel)
    }
    if (source === 'server') return keepChosen(cli, app, await askServer(cli, app))
    if (source === 'ollama') return keepLocal(cli, app, await chooseOllamaModel(cli, app, found))
    const tried = source === 'key' ? await askProvider(cli, app, found) : undefined
    const kept = tried
      ? await keepChosen(cli, app, tried)
      : source === 'key'
        ? undefined
        : await keepStored(cli, app, source)
    if (kept !== undefined) return kept
  }
}

/** Asks for another model of the provider that answers, or of Ollama. */
export async function askModelOf(cli: Cli, app: App, found: Found): Promise<void> {
  if (found.active?.key_set) await keepStored(cli, app, found.active.id)
  else if (found.ollama.models.length > 0) await keepLocal(cli, app, await chooseOllamaModel(cli, app, found))
  else await chooseSource(cli, app, found)
}

/** The size of the small model, as its summary ends. */
const sizeInWords = knownModels.get(defaultChatModel)!.summary.split(', ').at(-1)!

function choicesOf({ providers, ollama, pulled }: Found, ready: Found['providers']) {
  const names = providers.filter(({ auth }) => auth.key_env !== '').map(({ name }) => name)
  return [
    ...ready.map(({ id, name, auth }) => ({
      value: id,
      name: auth.key_env === '' ? name : `${name}, whose key is set (${auth.key_env})`,
    })),
    { value: 'key', name: `A provider that I have a key for: ${names.slice(0, 4).join(', ')} …` },
    ...(ollama.reachable
      ? [
          {
            value: 'ollama',
            name: `Ollama on this machine${ollama.models.length > 0 ? '' : ', with a model to download'}`,
          },
        ]
      : []),
    { value: 'server', name: "A server that speaks OpenAI's API, by its address" },
    ...(pulled.length > 0
      ? []
      : [{ value: 'small', name: `A small model on this machine, ${sizeInWords} to download` }]),
    { value: 'nothing', name: 'Nobody for now' },
  ]
}

/** Keeps a provider whose key is stored, after the choice of a model; undefined where it cannot be asked, which is said. */
async function keepStored(cli: Cli, app: App, id: string): Promise<string | undefined> {
  try {
    return await keepChosen(cli, app, await tryOut(cli, app, app.plugins.export(id), undefined))
  } catch (reason) {
    if (!(reason instanceof AppError) || cli.io.signal.aborted) throw reason
    cli.io.err(`aichat: ${reason.message}`)
    return undefined
  }
}

async function keepChosen(cli: Cli, app: App, tried: Tried): Promise<string> {
  return keepProvider(cli, app, tried, await chooseModel(cli, app, tried.manifest))
}
