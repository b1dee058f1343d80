import { fileChunks, jsonItems } from '../../../src/formats/json-items.ts'

/** A user's turn of the history that a question is asked about. */
export interface Turn {
  /** Session and number of the turn; with `noans` in the place of `answer` where a turn of an answering session does not answer. */
  readonly id: string
  readonly session: string
  readonly content: string
  /** Milliseconds since 1970 UTC. */
  readonly timestamp: number
}

export interface Instance {
  readonly id: string
  readonly type: string
  readonly question: string
  /** Whether the history holds no answer; such questions are left out of the means. */
  readonly isAbstention: boolean
  /** Milliseconds since 1970 UTC. */
  readonly asked: number
  readonly turns: readonly Turn[]
}

interface RawTurn {
  readonly role: string
  readonly content: string
  readonly has_answer?: boolean
}

interface RawInstance {
  readonly question_id: string
  readonly question_type: string
  readonly question: string
  readonly question_date: string
  readonly haystack_dates: readonly string[]
  readonly haystack_session_ids: readonly string[]
  readonly haystack_sessions: readonly (readonly RawTurn[])[]
}

/** Bytes of the longest instance: the 500 sessions of LongMemEval-M have some 6 MB. */
const longestInstance = 256 * 1024 ** 2

/** Reads the instances of a LongMemEval file, one at a time: that of LongMemEval-M has gigabytes. */
export function* readInstances(path: string): Generator<Instance> {
  for (const bytes of jsonItems(fileChunks(path), longestInstance)) {
    if (!bytes) throw new Error(`An instance of ${path} is longer than ${longestInstance} bytes`)
    yield instanceOf(JSON.parse(bytes.toString('utf8')) as RawInstance)
  }
}

function instanceOf(raw: RawInstance): Instance {
  const turns = raw.haystack_sessions.flatMap((session, at) =>
    session.flatMap((turn, number): readonly Turn[] => {
      if (turn.role !== 'user') return []
      const name = raw.haystack_session_ids[at] ?? ''
      const id = `${name}_${number + 1}`
      return [
        {
          id: turn.has_answer === true ? id : id.replaceAll('answer', 'noans'),
          session: name,
          content: turn.content,
          timestamp: timeOf(raw.haystack_dates[at] ?? ''),
        },
      ]
    }),
  )
  return {
    id: raw.question_id,
    type: raw.question_type,
    question: raw.question,
    isAbstention: raw.question_id.includes('_abs'),
    asked: timeOf(raw.question_date),
    turns,
  }
}

/** A time such as `2023/05/30 (Tue) 23:40`, which is taken for UTC; 0 for any other text. */
function timeOf(text: string): number {
  const [, year, month, day, hour, minute] = /^(\d{4})\/(\d\d)\/(\d\d) \(\w+\) (\d\d):(\d\d)$/.exec(text) ?? []
  return year === undefined ? 0 : Date.UTC(+year, +month! - 1, +day!, +hour!, +minute!)
}
