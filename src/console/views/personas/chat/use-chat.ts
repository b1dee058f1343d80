import { useEffect, useRef, useState } from 'preact/hooks'
import { goTo } from '../../../page/route.ts'
import { ask, path, problemOf, type Refused } from '../../../wire/client.ts'
import { events } from '../../../wire/events.ts'
import type { Persona, WholeSession } from '../../../wire/types.ts'
import { type ChatMessage, type Picture, type Report, savedMessages } from './chat-message.ts'

export interface ChatState {
  readonly messages: readonly ChatMessage[]
  readonly isAnswering: boolean
  readonly isLoading: boolean
  /** Why a saved conversation cannot be shown. */
  readonly loadProblem: Refused | undefined
  /** The id of the conversation in which the chat is kept; undefined before the first answer. */
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
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly aichat?: Report & { readonly session?: { readonly id: string } }
}

let lastId = 0

/** A conversation with a persona, kept as a session by the server; only the newest message is sent. */
export function useChat(persona: Persona, sessionId: string | undefined): ChatState {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [session, setSession] = useState(sessionId)
  const [isAnswering, setAnswering] = useState(false)
  const [isLoading, setLoading] = useState(sessionId !== undefined)
  const [loadProblem, setLoadProblem] = useState<Refused>()
  const running = useRef<AbortController | undefined>(undefined)

  useEffect(() => {
    const controller = new AbortController()
    running.current?.abort()
    setMessages([])
    setSession(sessionId)
    setLoadProblem(undefined)
    setLoading(sessionId !== undefined)
    if (sessionId !== undefined)
      ask<WholeSession>('GET', path`/api/sessions/${sessionId}`, { signal: controller.signal })
        .then(({ messages: saved }) => setMessages(savedMessages(saved)))
        .catch((reason: unknown) => controller.signal.aborted || setLoadProblem(problemOf(reason)))
        .finally(() => controller.signal.aborted || setLoading(false))
    return () => {
      controller.abort()
      running.current?.abort()
    }
  }, [sessionId, persona.id])

  const change = (id: number, next: (message: ChatMessage) => ChatMessage) =>
    setMessages((all) => all.map((message) => (message.id === id ? next(message) : message)))

  async function answer(question: ChatMessage): Promise<void> {
    const controller = new AbortController()
    running.current = controller
    const id = ++lastId
    setMessages((all) => [...all, { id, role: 'assistant', text: '', isWriting: true }])
    setAnswering(true)
    const body = {
      persona: persona.id,
      messages: [{ role: 'user', content: contentOf(question) }],
      stream: true,
      ...(session === undefined ? { keep: true } : { session }),
    }
    const pieces = createPieces((text) => change(id, (message) => ({ ...message, text: message.text + text })))
    try {
      for await (const event of events('/api/chat', { body, signal: controller.signal })) {
        const { choices, aichat } = event as Chunk
        pieces.add(choices?.[0]?.delta?.content ?? '')
        if (aichat?.session) setSession(aichat.session.id)
        if (aichat) change(id, (message) => ({ ...message, report: { ...message.report, ...aichat } }))
      }
      pieces.flush()
      change(id, (message) => ({ ...message, isWriting: false }))
    } catch (reason) {
      pieces.flush()
      const ending = controller.signal.aborted ? { isStopped: true } : { problem: problemOf(reason) }
      change(id, (message) => ({ ...message, isWriting: false, ...ending }))
    } finally {
      if (running.current === controller) setAnswering(false)
    }
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
      void answer(question)
    },
    stop: () => running.current?.abort(),
    startAnew() {
      running.current?.abort()
      setMessages([])
      setSession(undefined)
      if (sessionId !== undefined) goTo('personas', persona.id, 'chat')
    },
    retry() {
      const question = messages.findLast(({ role }) => role === 'user')
      if (!question || isAnswering) return
      setMessages((all) => all.filter((message) => message.id <= question.id))
      void answer(question)
    },
  }
}

function contentOf({ text, pictures = [] }: ChatMessage): unknown {
  if (pictures.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...pictures.map(({ data }) => ({ type: 'image_url', image_url: { url: data } })),
  ]
}

/** Gathers the pieces of an answer for the next frame: models send more of them than a screen shows. */
function createPieces(show: (text: string) => void): { add(text: string): void; flush(): void } {
  let waiting = ''
  let frame = 0
  const flush = () => {
    cancelAnimationFrame(frame)
    frame = 0
    if (waiting !== '') show(waiting)
    waiting = ''
  }
  return {
    add(text) {
      waiting += text
      // A page in the background gets no frames, and needs none.
      if (frame === 0 && waiting !== '') frame = requestAnimationFrame(flush)
    },
    flush,
  }
}
