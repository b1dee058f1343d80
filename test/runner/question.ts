/** Questions of a test process to the runner, over the channel that names its files. */

/** A message to the runner; files are told as texts. */
export type Question = { readonly question: string }

export interface Answer {
  readonly question: string
  readonly value?: unknown
  /** Why there is no value. */
  readonly failure?: string
}

/** Asks the runner; resolves with undefined in a process that it did not start, and rejects with the failure that it tells. */
export async function askRunner<R>(question: string): Promise<R | undefined> {
  if (!process.send || process.env['AICHAT_TEST_MARK'] === undefined) return undefined
  const answer = new Promise<Answer>((resolve) => {
    const listener = (message: unknown) => {
      if (!isAnswer(message) || message.question !== question) return
      process.off('message', listener)
      resolve(message)
    }
    process.on('message', listener)
  })
  process.send({ question } satisfies Question)
  const { value, failure } = await answer
  if (failure !== undefined) throw new Error(failure)
  return value as R
}

export function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'question' in message
}

function isAnswer(message: unknown): message is Answer {
  return isQuestion(message)
}

/** Answers a question of a test process with what `find` resolves with. */
export async function answerTo({ question }: Question, find: (question: string) => Promise<unknown>): Promise<Answer> {
  try {
    return { question, value: await find(question) }
  } catch (reason) {
    return { question, failure: String(reason) }
  }
}
