import type { App } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'
import { openProgress } from '../terminal/progress.ts'
import { askTerminal } from '../terminal/prompts.ts'
import { sizeText } from '../terminal/table.ts'
import { type Found, isNamed } from './found.ts'

/** Models that Ollama pulls, small ones first: https://github.com/ollama/ollama#model-library has their sizes. */
const pullable = [
  ['gemma3:1b', '815 MB'],
  ['llama3.2', '2.0 GB'],
  ['phi4-mini', '2.5 GB'],
  ['gemma3', '3.3 GB'],
] as const

/** A model of Ollama: the only one, the one that the user chooses, or one that is pulled first. */
export async function chooseOllamaModel(cli: Cli, app: App, { ollama: { models } }: Found): Promise<string> {
  if (models.length === 1) return models[0]!.name
  const choices =
    models.length > 0
      ? models.map(({ name, bytes }) => ({
          value: name,
          name: bytes === undefined ? name : `${name}  ${sizeText(bytes)}`,
        }))
      : pullable.map(([value, size]) => ({ value, name: `${value.padEnd(10)} ${size} to download` }))
  const message = models.length > 0 ? 'Which model of Ollama answers?' : 'Which model shall Ollama download?'
  const name = await askTerminal<string>(cli, { type: 'select', message, choices })
  if (models.length === 0) await pullAtOllama(cli, app, name)
  return name
}

/** The model of Ollama that this name means; one that is missing is pulled. Throws `unavailable` where Ollama is not there. */
export async function namedOllamaModel(cli: Cli, app: App, { ollama }: Found, name: string): Promise<string> {
  if (!ollama.reachable) throw new AppError('unavailable', `Ollama does not answer at ${ollama.url}`)
  const installed = ollama.models.find((model) => isNamed(model.name, name))
  if (!installed) await pullAtOllama(cli, app, name)
  return installed?.name ?? name
}

async function pullAtOllama(cli: Cli, app: App, name: string): Promise<void> {
  const { ollama } = await app.chat()
  const progress = openProgress(cli)
  try {
    const show = (received: number, total: number) => progress.show(total === 0 ? 1 : received / total, sizeText(total))
    await ollama.pull(name, show, cli.signal())
  } finally {
    progress.clear()
  }
}
