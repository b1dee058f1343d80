import { fileChunks, textLines } from '../../formats/json/spans.ts'
import { validate } from '../../formats/schema-problems.ts'
import { memoryInput } from '../memory/memory.ts'
import {
  type Arrival,
  type ArrivalOptions,
  type ArrivalReport,
  type ArrivedMemory,
  parseForeign,
  timeOf,
} from './arrival.ts'
import { longestLine } from './detect.ts'

/** Memories as JSON lines: `{content, timestamp?, importance_score?, metadata?}`, the input of a new memory; the time may be a text. */
export function openJsonLines(path: string, { after, now }: ArrivalOptions): Arrival {
  return {
    format: 'jsonl',
    persona: { name: 'Imported memories', memory_settings: { enabled: true } },
    passthrough: {},
    warnings: [],
    *memories(report) {
      const conversations = new Set<unknown>()
      let number = 0
      for (const line of textLines(fileChunks(path), longestLine)) {
        number++
        const memory = readLine(line, number, report)
        if (!memory) continue
        if (after !== undefined && memory.timestamp !== undefined && memory.timestamp < after) {
          report.leaveOut('memories before the given time')
          continue
        }
        conversations.add(memory.metadata['conversation'])
        conversations.delete(undefined)
        report.conversations = conversations.size
        yield { ...memory, timestamp: memory.timestamp ?? now }
      }
    },
  }
}

/** The input with its time in milliseconds where it is an ISO 8601 text, as most programs write it. */
function withTime(value: unknown): unknown {
  const { timestamp } = (value ?? {}) as { timestamp?: unknown }
  const time = typeof timestamp === 'string' ? timeOf(timestamp) : undefined
  return time === undefined ? value : { ...(value as object), timestamp: time }
}

type Line = Omit<ArrivedMemory, 'timestamp'> & { readonly timestamp?: number }

/** Undefined for an empty line, and for a faulty one, after its problem was told to the report. */
function readLine(bytes: Buffer | undefined, number: number, report: ArrivalReport): Line | undefined {
  if (!bytes) {
    report.problem(`line ${number} is longer than ${longestLine} bytes`)
    return undefined
  }
  if (bytes.toString('latin1').trim() === '') return undefined
  let value: unknown
  try {
    value = parseForeign(bytes, `line ${number}`)
  } catch (reason) {
    report.problem(reason instanceof Error ? reason.message : String(reason))
    return undefined
  }
  const valid = validate(memoryInput, withTime(value))
  if (valid.problems === undefined) return valid.data
  for (const problem of valid.problems) report.problem(`line ${number}: ${problem}`)
  return undefined
}
