import { useEffect, useRef, useState } from 'preact/hooks'
import { goTo, linkTo } from '../../page/route.ts'
import { ask, path, problemOf, type Refused } from '../../wire/client.ts'
import { events } from '../../wire/events.ts'
import type { SavedSession, WholeSession } from '../../wire/types.ts'
import {
  type ChatMessage,
  keptText,
  type Partner,
  type Picture,
  type Report,
  savedMessages,
  textOf,
} from './chat-message.ts'

export interface ChatState {
  readonly messages: readonly ChatMessage[]
  readonly isAnswering: boolean
  readonly isLoading: boolean
  /** Why a saved conversation cannot be shown. */
  readonly loadProblem: Refused | undefined
  /** The id of the conversation in which the chat is kept; undefined while none is known. */
  readonly session: string | undefined
  send(text: string, pictures: readonly Picture[]): void
  stop(): void
  /** Begins another conversation. */
  startAnew(): void
  /** Sends the last question again. */
  retry(): void
}

/** A chunk of a streamed answer, as far as the page reads it. */
interface Chunk {
  readonly model?: string
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly reasoning_content?: string | null
      readonly refusal?: string | null
    }
    readonly finish_reason?: string | null
  }[]
  readonly aichat?: Report & { readonly session?: { readonly id: string } }
}

let lastId = 0

/** Pauses in which the server is asked where it has kept a question that was left: milliseconds. */
const pauses = [100, 400, 1500]

/** A conversation, kept as a session by the server; only the newest message is sent. */
export function useChat(partner: Partner, sessionId: string | undefined): ChatState {
  const persona = partner.persona?.id
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [session, showSession] = useState(sessionId)
  const place = useRef(sessionId)
  const [isAnswering, setAnswering] = useState(false)
  const [isLoading, setLoading] = useState(sessionId !== undefined)
  const [loadProblem, setLoadProblem] = useState<Refused>()
  const running = useRef<AbortController | undefined>(undefined)
  /** Counts the conversations that this chat has shown: an answer of an earlier one changes nothing here. */
  const talk = useRef(0)
  /** The question whose answer was left, until the server has kept it; and the search for it, which the next one waits for. */
  const lost = useRef<ChatMessage | undefined>(undefined)
  const search = useRef(Promise.resolve())

  const begin = (id: string | undefined) => {
    talk.current++
    running.current?.abort()
    place.current = id
    lost.current = undefined
    showSession(id)
    setMessages([])
  }

  /** Shows where the chat is kept, in the address too, so that the page can be loaded again. */
  const settle = (id: string) => {
    place.current = id
    lost.current = undefined
    showSession(id)
    history.replaceState(history.state, '', linkTo(...partner.place, id))
  }

  useEffect(() => {
    const controller = new AbortController()
    begin(sessionId)
    setLoadProblem(undefined)
    setLoading(sessionId !== undefined)
    if (sessionId !== undefined)
      ask<WholeSession>('GET', path`/api/sessions/${sessionId}`, { signal: controller.signal })
        .then(({ messages: saved }) => setMessages(savedMessages(saved)))
        .catch((reason: unknown) => controller.signal.aborted || setLoadProblem(problemOf(reason)))
        .finally(() => controller.signal.aborted || setLoading(false))
    return () => {
      talk.current++
      controller.abort()
      running.current?.abort()
    }
  }, [sessionId, persona])

  const change = (id: number, next: (message: ChatMessage) => ChatMessage) =>
    setMessages((all) => all.map((message) => (message.id === id ? next(message) : message)))

  /** Looks for the place of the question that was left. */
  async function find(mine: number): Promise<void> {
    const kept = lost.current && (await keptExchange(persona, lost.current, place.current))
    if (kept && talk.current === mine) settle(kept.id)
  }

  async function findSoon(mine: number): Promise<void> {
    for (const pause of pauses) {
      await new Promise((resolve) => setTimeout(resolve, pause))
      if (talk.current !== mine || !lost.current) return
      await find(mine).catch(() => undefined)
    }
  }

  async function answer(question: ChatMessage, isAgain: boolean): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    running.current = controller
    const mine = talk.current
    const id = ++lastId
    setMessages((all) => [...all, { id, role: 'assistant', text: '', isWriting: true }])
    setAnswering(true)
    const pieces = createPieces((more, thought) =>
      change(id, ({ thinking = '', ...message }) => ({
        ...message,
        text: message.text + more,
        ...(thinking + thought !== '' && { thinking: thinking + thought }),
      })),
    )
    try {
      await search.current
      await find(mine)
      if (isAgain) await takeBack(question)
      const body = {
        ...(persona === undefined ? partner.model !== '' && { model: partner.model } : { persona }),
        messages: [{ role: 'user', content: contentOf(question) }],
        stream: true,
        // The beginning of an answer is kept too, where the reader leaves.
        keep: true,
        ...(place.current !== undefined && { session: place.current }),
      }
      for await (const event of events('/api/chat', { body, signal })) {
        const { choices: [choice] = [], aichat } = event as Chunk
        const { content, reasoning_content, refusal } = choice?.delta ?? {}
        pieces.add(content ?? '', reasoning_content ?? '')
        if (refusal) change(id, (message) => ({ ...message, refusal: (message.refusal ?? '') + refusal }))
        const finish = choice?.finish_reason
        if (finish) change(id, (message) => ({ ...message, finish }))
        if (aichat?.session && talk.current === mine) settle(aichat.session.id)
        if (aichat) change(id, (message) => ({ ...message, report: { ...message.report, ...aichat } }))
      }
      pieces.flush()
      change(id, (message) => ({ ...message, isWriting: false }))
    } catch (reason) {
      pieces.flush()
      const ending = signal.aborted ? { isStopped: true } : { problem: problemOf(reason) }
      change(id, (message) => ({ ...message, isWriting: false, ...ending }))
      // The server has noticed that nobody reads on, or will.
      const wasLeft = signal.aborted || problemOf(reason).status === 0
      if (wasLeft && talk.current === mine) {
        lost.current = question
        search.current = findSoon(mine)
      }
    } finally {
      if (running.current === controller) setAnswering(false)
    }
  }

  /** Takes the beginning of an answer back, with its question, where the server has kept them. */
  async function takeBack(question: ChatMessage): Promise<void> {
    const kept = place.current === undefined ? undefined : await keptExchange(persona, question, place.current)
    if (!kept) return
    const body = { expected_messages: kept.message_count }
    await ask('POST', path`/api/sessions/${kept.id}/undo`, { body })
  }

  return {
    messages,
    isAnswering,
    isLoading,
    loadProblem,
    session,
    send(text, pictures) {
      const question: ChatMessage = { id: ++lastId, role: 'user', text, pictures }
      setMessages((all) => [...all, question])
      void answer(question, false)
    },
    stop: () => running.current?.abort(),
    startAnew() {
      begin(undefined)
      goTo(...partner.place)
    },
    retry() {
      const question = messages.findLast(({ role }) => role === 'user')
      if (!question || isAnswering) return
      setMessages((all) => [...all.filter(({ id }) => id < question.id), { ...question, isUnanswered: false }])
      void answer(question, true)
    },
  }
}

interface Kept {
  readonly role: string
  readonly content?: unknown
  readonly cut?: true
}

/** The conversation that ends with this question, or with it and a cut answer: the named one, or one of the newest with the persona, or without one. */
async function keptExchange(
  persona: string | undefined,
  question: ChatMessage,
  session?: string,
): Promise<WholeSession | undefined> {
  const query = { ...(persona !== undefined && { persona }), limit: 3 }
  const ids =
    session === undefined
      ? (await ask<{ sessions: readonly SavedSession[] }>('GET', '/api/sessions', { query })).sessions.map(
          ({ id }) => id,
        )
      : [session]
  for (const id of ids) {
    const whole = await ask<WholeSession>('GET', path`/api/sessions/${id}`)
    const [last, before] = whole.messages.toReversed() as readonly Kept[]
    const asked = last?.cut ? before : last
    if (asked?.role === 'user' && textOf(asked.content) === keptText(question)) return whole
  }
  return undefined
}

function contentOf({ text, pictures = [] }: ChatMessage): unknown {
  if (pictures.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...pictures.map(({ data }) => ({ type: 'image_url', image_url: { url: data } })),
  ]
}

/** Gathers the pieces of an answer for the next frame: models send more of them than a screen shows. */
function createPieces(show: (text: string, thinking: string) => void) {
  let text = ''
  let thinking = ''
  let frame = 0
  const flush = () => {
    cancelAnimationFrame(frame)
    frame = 0
    if (text !== '' || thinking !== '') show(text, thinking)
    text = thinking = ''
  }
  return {
    add(more: string, thought: string) {
      text += more
      thinking += thought
      // A page in the background gets no frames, and needs none.
      if (frame === 0 && (text !== '' || thinking !== '')) frame = requestAnimationFrame(flush)
    },
    flush,
  }
}
