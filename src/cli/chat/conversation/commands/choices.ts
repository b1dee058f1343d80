import { AppError } from '../../../../errors.ts'
import { suggestion } from '../../../../formats/formats.ts'
import { listChatModels, listPersonas } from '../../../../operations/operations.ts'
import { readAliases, resolveAlias } from '../../../../settings/settings.ts'
import type { Cli } from '../../../terminal/cli.ts'
import { note } from '../../../terminal/output.ts'
import { canPick, pick } from '../../../terminal/picker.ts'
import { beginningWith, nothing, type TalkCommand, wordsOfKind } from '../command.ts'
import { say, sayList } from '../say.ts'
import type { Talk, TalkOptions } from '../talk.ts'

export const modelCommand: TalkCommand = {
  name: 'model',
  usage: '[MODEL]',
  what: 'ask another model from now on; alone, choose one',
  async run(talk, rest) {
    const name = rest.trim() || (await chosen(talk, 'Which model?', await modelNames(talk.cli, talk.signal)))
    if (name === undefined) return listModels(talk)
    await take(talk, { ...talk.options, model: resolveAlias(name, (await talk.cli.settings()).paths) })
  },
  complete: async (cli, rest, signal) => beginningWith(await modelNames(cli, signal), rest),
}

/** The one of these names that the user picks; undefined where there is none, or no picker. */
async function chosen(talk: Talk, question: string, names: readonly string[]): Promise<string | undefined> {
  if (names.length === 0 || !(await canPick(talk.cli))) return undefined
  const choices = names.map((value) => ({ value }))
  return talk.lend(() => pick(talk.cli, question, async () => choices))
}

async function listModels(talk: Talk): Promise<void> {
  const { cli, options, signal } = talk
  const names = await modelNames(cli, signal)
  const asked = await talk.preview(options).then(addressOf, () => undefined)
  if (asked !== undefined) say(cli, `aichat: asked now: ${asked}`)
  if (names.length === 0) say(cli, 'aichat: no other models are ready; see aichat plugin list and aichat models pull')
  else sayList(cli, names, '; begin a name behind /model and press Tab')
}

/** The models as -m takes them, and the aliases of models. */
async function modelNames(cli: Cli, signal: AbortSignal): Promise<readonly string[]> {
  const { models } = await cli.ask(listChatModels, {}, signal)
  return [...readAliases((await cli.settings()).paths).keys(), ...models.map(({ id }) => id)].sort()
}

function addressOf({ model, plugin }: { readonly model: string; readonly plugin: string | null }): string {
  return plugin === null ? `${model} (on this machine)` : `${plugin}:${model}`
}

export const personaCommand: TalkCommand = {
  name: 'persona',
  usage: '[NAME]',
  what: `begin a new conversation with a persona, or with none by ${nothing}; alone, choose one`,
  async run(talk, rest) {
    const { cli, options, signal } = talk
    const { personas } = rest.trim() === '' ? await cli.ask(listPersonas, {}, signal) : { personas: [] }
    const name =
      rest.trim() ||
      (await chosen(
        talk,
        'Which persona?',
        personas.map((persona) => persona.name),
      ))
    if (name === undefined) {
      if (personas.length === 0) return say(cli, 'aichat: no personas yet; see aichat persona create')
      return sayList(
        cli,
        personas.map((persona) => (persona.name === options.persona ? `${persona.name} (answers now)` : persona.name)),
        '',
      )
    }
    if (name === nothing) return talk.begin({ ...options, persona: undefined, model: plainModel(options.model) })
    await checkPersona(cli, name, signal)
    // A persona has her own model.
    await talk.begin({ ...options, persona: name, model: undefined })
  },
  complete: (cli, rest) => wordsOfKind(cli, 'personas', rest),
}

async function checkPersona(cli: Cli, name: string, signal: AbortSignal): Promise<void> {
  const { personas } = await cli.ask(listPersonas, {}, signal)
  if (personas.some((persona) => persona.name === name || persona.id === name)) return
  const near = suggestion(
    name,
    personas.map((persona) => persona.name),
  )
  throw new AppError('not_found', `Persona "${name}" not found${near}`)
}

function plainModel(model: string | undefined): string | undefined {
  return model?.startsWith('persona:') ? undefined : model
}

export const systemCommand: TalkCommand = {
  name: 'system',
  usage: '[TEXT]',
  what: `set the system prompt, or take it away by ${nothing}; alone, show it`,
  run(talk, rest) {
    const text = rest.trim()
    const { prompt } = talk.options
    if (text === '') return say(talk.cli, prompt === undefined ? 'aichat: no system prompt is set' : prompt)
    talk.options = { ...talk.options, prompt: text === nothing ? undefined : text }
    note(talk.cli, text === nothing ? 'aichat: no system prompt from now on' : 'aichat: the system prompt is set')
  },
}

export const thinkingCommand: TalkCommand = {
  name: 'thinking',
  usage: 'show|hide',
  what: 'show what the model thinks before its answers, or hide it',
  run(talk, rest) {
    const word = rest.trim()
    if (word === '') return say(talk.cli, `aichat: thinking is ${talk.options.thinking ? 'shown' : 'hidden'}`)
    if (word !== 'show' && word !== 'hide') throw new AppError('usage', '/thinking takes show or hide')
    talk.options = { ...talk.options, thinking: word === 'show' }
    note(talk.cli, `aichat: thinking is ${word === 'show' ? 'shown' : 'hidden'} from now on`)
  },
  complete: async (_cli, rest) => beginningWith(['show', 'hide'], rest),
}

/** Options of a conversation that are on or off. */
const switches = ['memory', 'fallback', 'stream'] as const

/** Parameters that most providers take; others may be set as well. */
const parameters = [
  'frequency_penalty',
  'max_tokens',
  'presence_penalty',
  'reasoning_effort',
  'seed',
  'stop',
  'temperature',
  'top_k',
  'top_p',
]

const values: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(switches.map((name) => [name, ['on', 'off']])),
  reasoning_effort: ['low', 'medium', 'high'],
}

export const setCommand: TalkCommand = {
  name: 'set',
  usage: '[KEY=VALUE]',
  what: 'set a parameter of the model, or memory, fallback or stream to on or off; KEY= takes it away; alone, show them',
  async run(talk, rest) {
    const { options } = talk
    const text = rest.trim()
    if (text === '') return showSettings(talk)
    const [, key = '', value = ''] = /^([^=\s]+)\s*[=\s]\s*([\s\S]*)$/.exec(text) ?? []
    if (key === '') throw new AppError('usage', 'Write KEY=VALUE, such as /set temperature=0.5')
    const known = switches.find((name) => name === key)
    if (known) return flip(talk, known, value)
    const { [key]: _before, ...others } = options.option ?? {}
    if (value !== '') return take(talk, { ...options, option: talk.withParameter(`${key}=${value}`) })
    if (!Object.hasOwn(options.option ?? {}, key))
      throw new AppError('usage', `${key} is not set${suggestion(key, Object.keys(options.option ?? {}))}`)
    talk.options = { ...options, option: others }
    note(talk.cli, `aichat: ${key} is left to the model`)
  },
  complete: async (_cli, rest) => {
    const at = rest.indexOf('=')
    if (at === -1)
      return beginningWith([...parameters, ...switches].sort(), rest).map(({ text }) => ({
        text: `${text}=`,
        goesOn: true,
      }))
    const key = rest.slice(0, at)
    return beginningWith(
      (values[key] ?? []).map((value) => `${key}=${value}`),
      rest,
    )
  },
}

function flip(talk: Talk, name: (typeof switches)[number], value: string): void {
  if (value !== 'on' && value !== 'off') throw new AppError('usage', `${name} is on or off`)
  talk.options = { ...talk.options, [name]: value === 'on' }
  note(talk.cli, `aichat: ${name}=${value}`)
}

function showSettings({ cli, options }: Talk): void {
  const set = Object.entries(options.option ?? {}).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  sayList(cli, [...switches.map((name) => `${name}=${options[name] ? 'on' : 'off'}`), ...set], '')
}

/** Asks with other options from now on, if a question could be asked with them. */
async function take(talk: Talk, options: TalkOptions): Promise<void> {
  const { plugin, model, warnings } = await talk.preview(options)
  for (const warning of warnings) note(talk.cli, `aichat: ${warning}`)
  talk.options = options
  note(talk.cli, `aichat: from now on ${addressOf({ plugin, model })}${parametersText(options)} is asked`)
}

function parametersText({ option = {} }: TalkOptions): string {
  const set = Object.entries(option).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  return set.length === 0 ? '' : ` with ${set.join(' ')}`
}
