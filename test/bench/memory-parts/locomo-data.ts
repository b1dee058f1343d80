import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Turn {
  readonly id: string
  readonly speaker: string
  readonly text: string
  readonly session: string
  readonly timestamp: number
}

export interface Question {
  readonly question: string
  /** Ids of the turns that answer it, as they stand in the data; the malformed ones match nothing. */
  readonly evidence: readonly string[]
  readonly category: number
}

export interface Talk {
  readonly name: string
  readonly turns: readonly Turn[]
  readonly questions: readonly Question[]
}

/** The data set's own numbers, which many repositories mix up. */
export const categories: readonly (readonly [number, string])[] = [
  [4, 'single'],
  [1, 'multi'],
  [2, 'temporal'],
  [3, 'open'],
  [5, 'advers.'],
]

type RawTurn = { speaker: string; dia_id: string; text: string; blip_caption?: string }

/** Every conversation in the folder's JSON files. */
export function readTalks(folder: string): Talk[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown[])
    .map(talkOf)
}

function talkOf(raw: unknown): Talk {
  const { sample_id, conversation, qa } = raw as {
    sample_id: string
    conversation: Record<string, unknown>
    qa: { question: string; evidence?: string[]; category: number }[]
  }
  const turns: Turn[] = []
  for (let number = 1; Array.isArray(conversation[`session_${number}`]); number++) {
    const start = timeOf(String(conversation[`session_${number}_date_time`]))
    const list = conversation[`session_${number}`] as RawTurn[]
    list.forEach(({ speaker, dia_id, text, blip_caption }, at) => {
      // A picture counts as part of the turn by its caption, as in the official evaluation of turns.
      const said = blip_caption ? `${text} [shares ${blip_caption}]` : text
      turns.push({ id: dia_id, speaker, text: said, session: `session ${number}`, timestamp: start + at * 60_000 })
    })
  }
  const questions = qa.map(({ question, evidence, category }) => ({ question, evidence: evidence ?? [], category }))
  return { name: sample_id, turns, questions }
}

/** `1:56 pm on 8 May, 2023` */
function timeOf(text: string): number {
  const [, clock = '0:00 am', day = ''] = /^(.*?) on (.*)$/.exec(text) ?? []
  return Date.parse(`${day.replace(',', '')} ${clock} UTC`)
}
