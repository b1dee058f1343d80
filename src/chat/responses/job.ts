import { isObject } from '../protocol/json-object.ts'
import { interrupted } from './responses.ts'
import type { ResponseObject } from './store.ts'

export interface Piece {
  /** Whole server-sent events, or nothing. */
  readonly text: string
  /** With the last event: the response as it is kept, which may hold more than its client is shown. */
  readonly stored?: ResponseObject
}

/** A response that is made in the background: its events as they come, for any number of readers. */
export type Job = ReturnType<typeof createJob>

export interface JobParts {
  readonly queued: ResponseObject
  run(signal: AbortSignal): AsyncIterable<Piece>
  /** Writes its end, before any reader gets it. Resolves with the end that was written before, by another process. */
  save(response: ResponseObject): Promise<ResponseObject | undefined>
}

interface Event {
  readonly type: string
  readonly response?: ResponseObject
  readonly [field: string]: unknown
}

/** Characters of the events of one answer: a long one has some millions. */
const mostEvents = 16 * 1024 * 1024

/** Whether the answer of a response continues. */
export function goesOn({ status }: ResponseObject): boolean {
  return status === 'queued' || status === 'in_progress'
}

/** A job that makes the queued response once it is started. Its events are kept in memory, at most 16 Mi characters. */
export function createJob({ queued, run, save }: JobParts) {
  const controller = new AbortController()
  const texts: string[] = []
  let characters = 0
  let response = queued
  let ended: Promise<ResponseObject> | undefined
  let isOver = false
  let wake = () => {}
  let news = new Promise<void>((resolve) => {
    wake = resolve
  })

  return {
    /** Resolves when it has ended, one way or the other. */
    start: work,
    response: () => response,
    /** Ends it early, unless it has ended; resolves with its end once that is written. */
    stop: (end: (response: ResponseObject) => ResponseObject) => finish(() => end(response)),
    /** The events after a sequence number, up to the last. */
    async *follow(after: number): AsyncIterable<string> {
      for (let at = after + 1; ; ) {
        while (at < texts.length) yield texts[at++]!
        if (isOver) return
        await news
      }
    },
  }

  async function work(): Promise<void> {
    push({ type: 'response.created', response: queued })
    push({ type: 'response.queued', response: queued })
    try {
      for await (const { text, stored } of run(controller.signal)) {
        if (ended) break
        for (const event of eventsIn(text)) await take(event, stored)
        if (characters > mostEvents) return void (await finish(() => tooLong(response)))
      }
      await finish(() => interrupted(response))
    } catch {
      await finish(() => interrupted(response))
    }
  }

  async function take(event: Event, stored: ResponseObject | undefined): Promise<void> {
    // Sent already, as queued.
    if (event.type === 'response.created') return
    if (!event.response) return push(event)
    const latest = ours(event.response)
    if (!goesOn(latest)) return void (await finish(() => latest, stored && ours(stored)))
    response = latest
    push({ ...event, response })
  }

  /** The response with the fields that its writer does not know. */
  function ours(latest: ResponseObject): ResponseObject {
    return { ...latest, created_at: queued['created_at'], background: true }
  }

  /** The first call decides on the end. */
  function finish(end: () => ResponseObject, stored?: ResponseObject): Promise<ResponseObject> {
    ended ??= settle(end(), stored)
    return ended
  }

  async function settle(end: ResponseObject, stored = end): Promise<ResponseObject> {
    controller.abort()
    try {
      response = (await save(stored)) ?? end
    } catch {
      response = {
        ...interrupted(end),
        output: [],
        error: { code: 'server_error', message: 'The answer was not kept.' },
      }
    }
    texts.push(eventText({ type: terminalOf(response), response }, texts.length))
    isOver = true
    wake()
    return response
  }

  function push(event: Event): void {
    if (ended) return
    // Numbered again: `queued`, the one before the answer, comes on top of those of its writer.
    const text = eventText(event, texts.length)
    texts.push(text)
    characters += text.length
    wake()
    news = new Promise((resolve) => {
      wake = resolve
    })
  }
}

/** The last event of a stream by the status of its response; a cancelled one has none of its own. */
function terminalOf({ status }: ResponseObject): string {
  return status === 'completed' || status === 'failed' ? `response.${status}` : 'response.incomplete'
}

function eventsIn(text: string): readonly Event[] {
  return text.split('\n\n').flatMap((block) => {
    const data = block.split('\n').find((line) => line.startsWith('data: '))
    const event: unknown = data && JSON.parse(data.slice('data: '.length))
    return isObject(event) ? [event as unknown as Event] : []
  })
}

/** The response of an answer with more events than are kept. */
function tooLong(response: ResponseObject): ResponseObject {
  const message = `The answer has more than ${mostEvents} characters of events. Ask without background for a longer one.`
  return { ...response, status: 'failed', error: { code: 'server_error', message } }
}

/** The stream of an ended response: its last event, and before it the first where the client has none. */
export async function* endedEvents(response: ResponseObject, after: number): AsyncGenerator<string> {
  if (after < 0) yield eventText({ type: 'response.created', response }, 0)
  yield eventText({ type: terminalOf(response), response }, Math.max(after + 1, 1))
}

function eventText(event: Event, number: number): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`
}
