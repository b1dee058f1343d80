import { stripVTControlCharacters } from 'node:util'
import { z } from 'zod'
import { type Message, textOf } from '../chat/chat.ts'
import { printableLine } from '../formats/formats.ts'
import { defineOperation } from './operation.ts'
import { completeChat, prepareChat } from './prepare-chat.ts'
import { locateSession } from './sessions.ts'

/** Tokens of the longest answer: a title has some ten, and models that think need more before it. */
const longestAnswer = 1_000

/** Characters of each message that the model reads, and of its answer that is looked at. */
const readLength = 1_500

/** Words of the longest title; more are cut. */
const mostWords = 8

export const titleSession = defineOperation({
  name: 'sessions.title',
  failures: [409],
  route: 'POST /api/sessions/:id/title',
  access: 'user',
  scope: 'personas',
  summary:
    'Has a model name a saved conversation by its first question and answer, in three to six words; a name that is given meanwhile stays, and so does the name where the model says nothing usable.',
  locate: locateSession,
  input: z.strictObject({
    id: z.string(),
    /** The model that is asked; by default the one of a chat that names none. */
    model: z.exactOptional(z.string().min(1)),
  }),
  output: z.object({ id: z.string(), name: z.string() }),
  run: async (call, { model }, conversation) => {
    const { app, caller, signal } = call
    const { conversations } = await app.personas()
    const said = await conversations.messages(caller.id, conversation.id, { upTo: 3 })
    const question = said.findIndex(({ message }) => message.role === 'user')
    const exchange = question < 0 ? [] : said.slice(question, question + 2)
    const localOnly = said.some(({ message }) => message.extra_content?.['aichat']?.['local_only'] === true)
    const { id, name } = conversation
    if (exchange.length === 0) return { id, name }
    const ready = await prepareChat(call, {
      request: {
        ...(model !== undefined && { model }),
        messages: titleRequest(exchange.map(({ message }) => message)),
        max_tokens: longestAnswer,
      },
      localOnly,
      // A persona that the model names neither remembers the request nor calls her tools for it.
      ...{ memory: false, toolTurn: true },
    })
    const { reply } = await completeChat(call, ready, signal)
    const title = cleanTitle(textOf(reply.choices[0]?.message.content))
    return { id, name: title === '' ? name : await conversations.retitle(conversation, title) }
  },
})

function titleRequest(exchange: readonly Message[]): Message[] {
  const talk = exchange.map(({ role, content }) => `${role}: ${textOf(content).slice(0, readLength)}`).join('\n\n')
  return [
    {
      role: 'user',
      content: `Name this conversation in three to six words, in its own language. Answer with the title alone: no quotes, no full stop.\n\n${talk}`,
    },
  ]
}

/** The first line of an answer without marks around it and control sequences; '' where it holds no title. */
function cleanTitle(answer: string): string {
  const line = stripVTControlCharacters(answer.slice(0, readLength))
    .split(/[\r\n]+/)
    .map((each) =>
      printableLine(each)
        .replace(/^[\s"'“”«»*_#`-]{1,20}/u, '')
        .replace(/^title:\s{0,5}/iu, ''),
    )
    .find((each) => /[\p{L}\p{N}]/u.test(each))
  const words = (line ?? '').split(/\s+/).slice(0, mostWords).join(' ')
  return words.replace(/[\s"'“”«»*_#`.]{1,20}$/u, '')
}
