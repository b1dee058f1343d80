import { useEffect, useRef, useState } from 'preact/hooks'
import { goTo, linkTo, type Route } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask, path, problemOf, type Refused } from '../../wire/client.ts'
import { events } from '../../wire/events.ts'
import type { SavedSession, WholeSession } from '../../wire/types.ts'
import type { Attachment } from './attachments.ts'
import {
  type ChatMessage,
  contentOf,
  keptText,
  type Partner,
  type Report,
  savedMessages,
  type ToolCall,
  textOf,
} from './chat-message.ts'
import { keepDraft, keepDraftFiles, moveDraft } from './drafts.ts'

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
  readonly aichat?: Report & { readonly session?: { readonly id: string }; readonly tool?: ToolCall }
}

let lastId = 0

/** Pauses in which the server is asked where it has kept a question that was left: milliseconds. */
const pauses = [100, 400, 1500]

/** A conversation, kept as a session by the server; only the newest message is sent. */
export function useChat(partner: Partner, sessionId: string | undefined, route: Route) {
  const persona = partner.persona?.id
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [family, setFamily] = useState<readonly SavedSession[]>([])
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

  // Another person who logs in after this one does not get the draft.
  const { me } = useSession()
  const draftPlaceOf = (id: string | undefined) => [me.id, ...partner.place, id ?? ''].join('/')

  const begin = (id: string | undefined) => {
    talk.current++
    running.current?.abort()
    place.current = id
    lost.current = undefined
    showSession(id)
    setMessages([])
    setFamily([])
    setLoadProblem(undefined)
    setLoading(id !== undefined)
  }

  /** Shows where the chat is kept, in the address too, so that the page can be loaded again. */
  const settle = (id: string) => {
    moveDraft(draftPlaceOf(place.current), draftPlaceOf(id))
    place.current = id
    lost.current = undefined
    showSession(id)
    history.replaceState(history.state, '', linkTo(...partner.place, id))
  }

  /** Shows a saved conversation from its beginning. */
  const open = async (id: string | undefined) => {
    begin(id)
    if (id === undefined) return
    const mine = talk.current
    try {
      const whole = await ask<WholeSession>('GET', path`/api/sessions/${id}`, { query: { files: true } })
      if (talk.current !== mine) return
      // A conversation with a persona is shown with her.
      if (persona === undefined && whole.persona_id != null) return goTo('personas', whole.persona_id, 'chat', id)
      setFamily(whole.family ?? [])
      setMessages(savedMessages(whole.messages))
    } catch (reason) {
      if (talk.current === mine) setLoadProblem(problemOf(reason))
    }
    if (talk.current === mine) setLoading(false)
  }

  useEffect(() => {
    void open(sessionId)
    return () => {
      talk.current++
      running.current?.abort()
    }
    // The route is another one after each step through the history, also where it names what was shown before.
  }, [route, persona])

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

  async function answer(
    question: ChatMessage,
    { isAgain = false, model = partner.model ?? '' }: { readonly isAgain?: boolean; readonly model?: string } = {},
  ): Promise<void> {
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
        ...(persona !== undefined && { persona }),
        ...(model !== '' && { model }),
        messages: [{ role: 'user', content: contentOf(question) }],
        stream: true,
        tool_steps: true,
        // The beginning of an answer is kept too, where the reader leaves.
        keep: keepingOf(question),
        ...(place.current !== undefined && { session: place.current }),
      }
      for await (const event of events('/api/chat', { body, signal })) {
        const { choices: [choice] = [], aichat: { tool, ...aichat } = {} } = event as Chunk
        const { content, reasoning_content, refusal } = choice?.delta ?? {}
        pieces.add(content ?? '', reasoning_content ?? '')
        if (refusal) change(id, (message) => ({ ...message, refusal: (message.refusal ?? '') + refusal }))
        const finish = choice?.finish_reason
        if (finish) change(id, (message) => ({ ...message, finish }))
        if (tool)
          change(id, ({ calls = [], ...message }) => ({
            ...message,
            calls: [...calls.filter((call) => call.id !== tool.id), tool],
          }))
        if (aichat.session && talk.current === mine) settle(aichat.session.id)
        if (Object.keys(aichat).length > 0)
          change(id, (message) => ({ ...message, report: { ...message.report, ...aichat } }))
      }
      pieces.flush()
      change(id, (message) => ({ ...message, isWriting: false }))
    } catch (reason) {
      pieces.flush()
      const ending = signal.aborted ? { isStopped: true } : { problem: problemOf(reason) }
      // The login has ended, and with it this view: the question is in the field when the person is back.
      if (ending.problem?.status === 401) {
        keepDraft(draftPlaceOf(place.current), question.text)
        keepDraftFiles(draftPlaceOf(place.current), question.attachments ?? [])
      }
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

  /** The place of a question in the saved conversation; undefined where the server has not kept it. */
  async function placeOf(question: ChatMessage, id: string): Promise<number | undefined> {
    if (question.at !== undefined) return question.at
    const { messages: saved } = await ask<WholeSession>('GET', path`/api/sessions/${id}`)
    const kept = (saved as readonly Kept[]).flatMap(({ role, content }, at) =>
      role === 'user' ? [{ at, text: textOf(content) }] : [],
    )
    let next = 0
    for (const each of messages.filter(({ role }) => role === 'user')) {
      const isKept = kept[next]?.text === keptText(each)
      if (each.id === question.id) return isKept ? kept[next]!.at : undefined
      if (isKept) next++
    }
    return undefined
  }

  /** Asks a question in the place of an earlier one, in a branch that shares the messages before it. */
  async function goOnFrom(earlier: ChatMessage, question: ChatMessage, model?: string): Promise<void> {
    if (running.current && isAnswering) return
    const mine = talk.current
    const id = place.current
    setLoadProblem(undefined)
    try {
      await search.current
      await find(mine)
      const at = id === undefined ? undefined : await placeOf(earlier, id)
      if (talk.current !== mine) return
      setMessages((all) => [
        ...all.filter((message) => message.id < earlier.id),
        { ...question, ...(at !== undefined && { at }) },
      ])
      if (at !== undefined) {
        const branch = await ask<SavedSession>('POST', path`/api/sessions/${id!}/branch`, { body: { messages: at } })
        settle(branch.id)
      }
    } catch (reason) {
      return setLoadProblem(problemOf(reason))
    }
    await answer(question, { ...(model !== undefined && { model }) })
    const shown = place.current
    if (shown === undefined || talk.current !== mine) return
    const brief = await ask<WholeSession>('GET', path`/api/sessions/${shown}`, { query: { brief: true } }).catch(
      () => undefined,
    )
    if (brief?.family && talk.current === mine) setFamily(brief.family)
  }

  return {
    messages,
    isAnswering,
    isLoading,
    /** Why a saved conversation cannot be shown. */
    loadProblem,
    /** The id of the conversation in which the chat is kept; undefined while none is known. */
    session,
    /** The conversations branched from one source, with it and the shown one; none where there is no branch. */
    family,
    /** The name of the place in which the draft of the next question is kept. */
    draftPlace: draftPlaceOf(session),
    send(text: string, attachments: readonly Attachment[]) {
      const question: ChatMessage = { id: ++lastId, role: 'user', text, attachments }
      setMessages((all) => [...all, question])
      void answer(question)
    },
    stop: () => running.current?.abort(),
    startAnew() {
      begin(undefined)
      goTo(...partner.place)
    },
    /** Sends the last question again, whose answer failed or was stopped. */
    retry() {
      const question = messages.findLast(({ role }) => role === 'user')
      if (!question || isAnswering) return
      setMessages((all) => [...all.filter(({ id }) => id < question.id), { ...question, isUnanswered: false }])
      void answer(question, { isAgain: true })
    },
    /** Asks the question of this answer again, of another model too: in a branch, so that both answers stay. */
    answerAgain(given: ChatMessage, model?: string) {
      const question = messages.findLast(({ role, id }) => role === 'user' && id < given.id)
      if (question) void goOnFrom(question, { ...question, id: ++lastId, isUnanswered: false }, model)
    },
    /** Goes on from a question in other words, in a branch. */
    edit(question: ChatMessage, text: string) {
      const { attachments } = question
      void goOnFrom(question, { id: ++lastId, role: 'user', text, ...(attachments && { attachments }) })
    },
    /** Shows another conversation of the family. */
    showVersion(id: string) {
      history.replaceState(history.state, '', linkTo(...partner.place, id))
      void open(id)
    },
  }
}

/** How a question is kept: with the names of its files, and under their names where it has no words. */
function keepingOf({ text, attachments = [] }: ChatMessage): unknown {
  const names = attachments.map(({ name }) => name)
  return names.length > 0 && text.trim() === '' ? { title: names.join(', ').slice(0, 200) } : true
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
