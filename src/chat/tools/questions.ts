import { AppError } from '../../errors.ts'

/** Who is asked: a user, or a program with a key of theirs. */
export interface Asked {
  readonly user: string | undefined
  readonly key?: string | undefined
}

/** Questions to users about calls of tools, each open until it is answered, its time is over or its chat ends. */
export type ToolQuestions = ReturnType<typeof createToolQuestions>

/** How long a question stays open: milliseconds. */
const usualWaitMs = 300_000

/** The open questions of this process: at most one for each chat, since calls are made one after the other. */
export function createToolQuestions(waitMs = usualWaitMs) {
  const open = new Map<string, Asked & { settle(verdict: true | string): void }>()
  return {
    /** Resolves with true for a yes, else with the reason for the model. Rejects as `signal` does. */
    async ask(id: string, asked: Asked, signal: AbortSignal | undefined): Promise<true | string> {
      const late = new AbortController()
      const timer = setTimeout(() => open.get(id)?.settle('The user gave no answer in time'), waitMs)
      try {
        return await new Promise<true | string>((resolve, reject) => {
          open.set(id, { ...asked, settle: resolve })
          signal?.throwIfAborted()
          signal?.addEventListener('abort', () => reject(signal.reason), { signal: late.signal })
        })
      } finally {
        open.delete(id)
        clearTimeout(timer)
        late.abort()
      }
    },
    /** Whether a question of this process is open. */
    has: (id: string) => open.has(id),
    /** Throws `not_found` for a question that is not open, or is another's. */
    answer(id: string, { user, key }: Asked, isAllowed: boolean) {
      const question = open.get(id)
      if (!question || question.user !== user || question.key !== key)
        throw new AppError(
          'not_found',
          'Nothing is asked about this call any more: it was answered, or its chat has ended',
        )
      question.settle(isAllowed || 'The user does not allow this call')
    },
  }
}
