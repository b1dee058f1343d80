import { textOf } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'
import type { Answer } from './answer.ts'
import type { FromTemplate } from './from-template.ts'
import type { ChatOptions, ChatQuestion } from './question.ts'
import type { AnswerCheck } from './schema/answer-check.ts'

/** The template of a chat; without one the options and the text are as they are. Throws `usage` for --var without one. */
export async function templateOf(cli: Cli, options: ChatOptions): Promise<FromTemplate> {
  if (options.template !== undefined) return (await import('./from-template.ts')).fromTemplate(cli, options)
  if (options.var !== undefined) throw new AppError('usage', '--var fills in a template: name one with -t NAME')
  return { options, compose: (text) => ({ text, prompt: options.prompt }) }
}

/** The check of an answer in JSON; undefined where none is asked for. Throws the errors of a schema that is none. */
export async function answerCheckOf(cli: Cli, options: ChatOptions): Promise<AnswerCheck | undefined> {
  const { schema, jsonObject, templateSchema } = options
  if (schema === undefined && !jsonObject && templateSchema === undefined) return undefined
  if (options.option?.['response_format'] !== undefined)
    throw new AppError('usage', 'Use --schema or --json-object, or -o response_format, not both')
  const { openAnswerCheck } = await import('./schema/answer-check.ts')
  return openAnswerCheck(cli, options)
}

const objectHint = 'Answer with one JSON object and nothing else.'

/** The options of a chat with a checked answer: the request asks for that form. */
export function withFormat(options: ChatOptions, check: AnswerCheck | undefined, text: string): ChatOptions {
  if (!check) return options
  const { prompt } = options
  // OpenAI refuses a request for a JSON object unless its messages name JSON.
  const names = check.format.type === 'json_schema' || /json/i.test(`${prompt ?? ''} ${text}`)
  return {
    ...options,
    option: { ...options.option, response_format: check.format },
    ...(!names && { prompt: prompt === undefined ? objectHint : `${prompt}\n\n${objectHint}` }),
  }
}

/**
 * The same question with the form of the answer in words, for a model that takes no format: a model of this machine, or
 * a provider that refuses the format or the schema. Undefined for any other failure.
 */
export function inWords(question: ChatQuestion, check: AnswerCheck, reason: unknown): ChatQuestion | undefined {
  if (!(reason instanceof AppError) || !['invalid', 'unprocessable'].includes(reason.code)) return undefined
  const complaint = [reason.provider?.param ?? '', reason.message, ...reason.details].join('\n')
  if (!/response[ _]?format|json_schema|structured output|output_config|promise JSON/i.test(complaint)) return undefined
  const { response_format: _format, ...rest } = question as ChatQuestion & { readonly response_format?: unknown }
  const { format } = check
  const words =
    format.type === 'json_schema'
      ? `Answer with JSON that fits this JSON Schema, and with nothing else:\n${JSON.stringify(format.json_schema.schema)}`
      : objectHint
  return { ...rest, messages: [{ role: 'system', content: words }, ...question.messages] }
}

/** Prints and checks the text of the last message of an answer. Throws as `AnswerCheck.finish`. */
export async function finishChecked(check: AnswerCheck, { message, text }: Answer): Promise<void> {
  await check.finish(message ? textOf(message.content) : text)
}
