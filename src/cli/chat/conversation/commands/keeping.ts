import { AppError } from '../../../../errors.ts'
import { counted } from '../../../../formats/formats.ts'
import { compactSession, listSessions, renameSession, showSession } from '../../../../operations/operations.ts'
import { usdOf } from '../../../../usage/usage.ts'
import { note } from '../../../terminal/output.ts'
import { given } from '../../../terminal/parsers.ts'
import { canPick } from '../../../terminal/picker.ts'
import { labelled } from '../../../terminal/table.ts'
import { timeText } from '../../../terminal/times.ts'
import { compactionText } from '../../saved/transcript.ts'
import { type TalkCommand, wordsOfKind } from '../command.ts'
import { say, sayList } from '../say.ts'
import type { Talk } from '../talk.ts'

export const saveCommand: TalkCommand = {
  name: 'save',
  usage: '[NAME]',
  what: 'give this conversation a name; alone, tell the one it has',
  async run(talk, rest) {
    const id = talk.record.session
    const name = rest.trim()
    if (name === '' && !talk.isKept) return say(talk.cli, 'aichat: this conversation is not kept; /save NAME keeps it')
    if (name === '')
      return say(talk.cli, `aichat: saved as "${(await talk.cli.ask(showSession, { id, brief: true })).name}"`)
    talk.keep()
    await talk.cli.ask(renameSession, { id, name })
    note(talk.cli, `aichat: saved as "${name}"`)
  },
}

/** Conversations of a list. */
const mostListed = 20

export const sessionsCommand: TalkCommand = {
  name: 'sessions',
  usage: '[NAME]',
  what: 'choose a saved conversation to go on with, or name it',
  async run(talk, rest) {
    const name = rest.trim()
    if (name !== '') return talk.begin({ ...talk.options, persona: undefined }, name)
    if (await canPick(talk.cli)) {
      const { pickSession } = await import('../../saved/pick-session.ts')
      const picked = await talk.lend(() => pickSession(talk.cli, talk.record.session))
      return talk.begin({ ...talk.options, persona: undefined }, picked)
    }
    const { sessions, total } = await talk.cli.ask(listSessions, { limit: mostListed })
    const shown = sessions.filter(({ message_count: count }) => count > 0)
    if (shown.length === 0) return say(talk.cli, 'aichat: no saved conversations yet')
    sayList(
      talk.cli,
      shown.map(
        ({ id, name, message_count: count, updated_at: at }) =>
          `${id === talk.record.session ? '* ' : '  '}${name}  ${timeText(talk.cli, at)}, ${counted(count, 'message')}`,
      ),
      '',
    )
    if (total > mostListed) say(talk.cli, `aichat: ${mostListed} of ${total}; aichat session list shows more`)
  },
  complete: (cli, rest) => wordsOfKind(cli, 'sessions', rest),
}

export const clearCommand: TalkCommand = {
  name: 'clear',
  aliases: ['new'],
  what: 'begin a new conversation in an empty window; this one stays saved',
  async run(talk) {
    await talk.begin(talk.options)
    talk.clearWindow()
  },
}

export const infoCommand: TalkCommand = {
  name: 'info',
  what: 'tell the model, persona, session, tokens and cost',
  async run(talk) {
    const { cli, options, totals, record, attached } = talk
    const next = await talk.preview(options).catch(() => undefined)
    const brief = await cli.ask(showSession, { id: record.session, brief: true })
    // A conversation that was begun earlier is read whole for its cost.
    const isEarlier = brief.message_count > 2 * totals.answers + 1
    const session = isEarlier ? await cli.ask(showSession, { id: record.session }) : brief
    const { server } = await cli.backend()
    say(
      cli,
      labelled([
        ['Model', next?.model ?? 'none is ready'],
        ['Plugin', next && (next.plugin ?? 'none: this machine')],
        ['Answered by', totals.by],
        ['Server', server],
        ['Persona', options.persona],
        ['System', options.prompt?.replace(/\s+/g, ' ').slice(0, 200)],
        ['Parameters', settingsText(talk)],
        ['Session', `${session.name} (${counted(session.message_count, 'message')})`],
        [
          'Files',
          attached.files
            .map(({ name }) => name)
            .join(', ')
            .slice(0, 400),
        ],
        ['Tokens', tokensText(talk)],
        ['Cost', costText(talk, session.cost)],
      ]),
    )
  },
}

function settingsText({ options }: Talk): string {
  return Object.entries(options.option ?? {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(' ')
}

function tokensText({ totals: { asked, answered, thought, answers } }: Talk): string {
  if (answers === 0) return 'none yet'
  if (asked === undefined || answered === undefined) return 'the provider tells none'
  return `${asked} sent, ${answered} received${thought > 0 ? ` (${thought} of them thinking)` : ''}, in ${counted(answers, 'answer')}`
}

function costText(
  { totals }: Talk,
  saved: { readonly cost_usd: string; readonly unpriced: number } | undefined,
): string | undefined {
  const unknown = saved?.unpriced ?? totals.unpriced
  const usd = saved?.cost_usd ?? (totals.cost > 0 ? usdOf(totals.cost) : undefined)
  if (usd === undefined)
    return totals.answers === 0 ? undefined : 'not known: aichat prices set gives a model its price'
  return `$${usd}${unknown > 0 ? `, and ${counted(unknown, 'answer')} of unknown cost` : ''}`
}

export const compactCommand: TalkCommand = {
  name: 'compact',
  usage: '[undo]',
  what: 'have the model summarise the earlier messages and go on with that; undo goes on with the original',
  async run(talk, rest) {
    const word = rest.trim()
    if (word !== '' && word !== 'undo') throw new AppError('usage', '/compact takes nothing, or the word undo')
    await compactTalk(talk, word === 'undo')
  },
}

/** Has the conversation summarised, or takes the summary back, and says what was done. */
async function compactTalk({ cli, record, options: { model } }: Talk, undo = false): Promise<void> {
  const done = await cli.ask(compactSession, { id: record.session, undo, ...given({ model }) })
  if (done.summary !== undefined) say(cli, done.summary)
  note(cli, compactionText(done))
}
