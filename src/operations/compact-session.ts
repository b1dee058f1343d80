import { z } from 'zod'
import { type Message, textOf } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { compaction, isCompaction, replaceable, replacedLength, summaryRequest } from '../personas/personas.ts'
import { defineOperation } from './operation.ts'
import { completeChat, prepareChat } from './prepare-chat.ts'
import { locateSession } from './sessions.ts'

/** Tokens of the longest summary. */
const longestSummary = 4_000

/** The questions at the end that a summary leaves as they are, with their answers. */
const usualTurns = 2

export const compactSession = defineOperation({
  name: 'sessions.compact',
  failures: [409, 422],
  route: 'POST /api/sessions/:id/compact',
  access: 'user',
  scope: 'personas',
  summary:
    'Has a model summarise the earlier messages of a saved conversation, which then goes on with the summary in their place; they stay, and `undo` brings them back.',
  locate: locateSession,
  input: z.strictObject({
    id: z.string(),
    /** The model of the summary; by default the one that answered last. */
    model: z.exactOptional(z.string().min(1)),
    /** How many questions at the end stay as they are, with their answers. */
    turns: z.int().min(0).max(1_000).default(usualTurns),
    /** Goes on with the original again. */
    undo: z.boolean().default(false),
  }),
  output: z.object({
    /** How many messages the summary replaces; 0 for none. */
    replaces: z.int(),
    summary: z.exactOptional(z.string()),
    /** Characters of what is sent in place of these messages, and of them. */
    length: z.exactOptional(z.object({ before: z.int(), after: z.int() })),
    cost_usd: z.exactOptional(z.string()),
    /** What the summary was made without, such as messages beyond the model's window. */
    warnings: z.exactOptional(z.array(z.string())),
  }),
  run: async (call, { model, turns, undo }, conversation) => {
    const { app, caller, signal } = call
    const { conversations } = await app.personas()
    const history = await conversations.messages(caller.id, conversation.id)
    const add = (message: ReturnType<typeof compaction>) => conversations.add(conversation, [message], history.length)
    if (undo) {
      const last = history.findLast(isCompaction)
      if (!last?.answer?.compacts)
        throw new AppError('invalid', `The session "${conversation.name}" has no summary to take back`)
      await add(compaction('The original messages stand again in place of their summary.', 0))
      return { replaces: 0 }
    }
    const replaces = replaceable(history, turns)
    if (replaces === 0)
      throw new AppError('invalid', `The session "${conversation.name}" is too short to be summarised`, {
        details: [`Its last ${turns} questions stay as they are: fewer turns summarise more`],
      })
    const messages: Message[] = summaryRequest(history, replaces)
    const record = history.findLast(({ answer }) => answer?.model !== undefined)?.answer
    const localOnly = history.some(({ message }) => message.extra_content?.['aichat']?.['local_only'] === true)
    const asked = model ?? modelOf(record)
    const ready = await prepareChat(call, {
      request: { ...(asked !== undefined && { model: asked }), messages, max_tokens: longestSummary },
      localOnly,
      // A persona that the model names neither remembers the summary nor calls her tools for it.
      ...{ memory: false, toolTurn: true },
    })
    const { reply, report, booking } = await completeChat(call, ready, signal)
    const [choice] = reply.choices
    const summary = textOf(choice?.message.content).trim()
    const before = replacedLength(history, replaces)
    if (summary === '' || choice?.finish_reason === 'length' || summary.length >= before)
      throw new AppError('unprocessable', 'The model gave no usable summary; the conversation is as it was', {
        details: [
          summary === ''
            ? 'Its answer is empty'
            : summary.length >= before
              ? `Its answer has ${summary.length} characters in place of ${before}`
              : `Its answer was cut after ${longestSummary} tokens`,
          'Try another model: --model',
        ],
      })
    const cost = booking.cost()
    await add(
      compaction(summary, replaces, {
        ...(cost?.cost_nano != null && { cost: cost.cost_nano }),
        answer: { model: report.model, ...(report.plugin !== null && { plugin: report.plugin }) },
      }),
    )
    return {
      replaces,
      summary,
      length: { before, after: summary.length },
      ...(cost?.cost_usd != null && { cost_usd: cost.cost_usd }),
      ...(report.warnings.length > 0 && { warnings: [...report.warnings] }),
    }
  },
})

function modelOf(record: { readonly model?: string; readonly plugin?: string; readonly runner?: string } | undefined) {
  if (record?.model === undefined) return undefined
  if (record.plugin !== undefined) return `${record.plugin}:${record.model}`
  return record.runner === undefined ? record.model : `local:${record.model}`
}
