import { type ChatRequest, type ContentPart, type Message, markPrefix, mediaSize, textOf } from '../../chat/chat.ts'
import { inTurns } from '../../process/process.ts'
import { isAnswer, isConfirmation, isTold, kindOf } from '../memory/kinds.ts'
import { isLore, loreLimits, loreOf } from '../memory/lore.ts'
import type { Lorebooks } from '../memory/lorebooks.ts'
import type { Memories, SearchHit, SearchOutcome } from '../memory/memories.ts'
import { conversationOf, type MemoryEntry, type MemoryInput, maxContentLength, wellFormed } from '../memory/memory.ts'
import { isSaidAlike } from '../memory/present.ts'
import { memorySettingsOf, type OpenedPersona, type Persona, type Personas } from '../persona.ts'
import type { Profiles } from '../profile/profiles.ts'
import type { ProfileLine } from '../profile-line.ts'
import { conversationLabel } from './client-conversation.ts'
import { compacted, compactedEnd } from './compaction.ts'
import { type Conversation, type SavedMessage, sentMessages, spokenMessages, withoutToolCalls } from './conversation.ts'
import type { Conversations } from './conversations.ts'
import type { OnBehalf } from './extraction.ts'
import { forgetRequest } from './forgetting.ts'
import { type Keeping, keepingOfAnswer, keepingSteps, type Redact, type Refusal } from './keeping.ts'
import { withoutAddresses } from './kept-files.ts'
import { type Meant, meantBy } from './meant.ts'
import { lorePrompt, memoryPrompt, withInstructions, withNotes } from './prompt.ts'

/** A chat request before the persona's and the conversation's parts are added. */
export type OpenRequest = Partial<ChatRequest> & Pick<ChatRequest, 'messages'>

export interface PersonaChatCall {
  readonly owner: string
  /** The user's name as the speaker of memories; by default `user`. */
  readonly speaker?: string | undefined
  readonly persona?: string | undefined
  readonly session?: string | undefined
  /** A conversation as the client names it: a label of memories, and no more. */
  readonly conversation?: string | undefined
  /** False keeps this chat from reading and writing memories. */
  readonly memory?: boolean | undefined
  readonly request: OpenRequest
  /**
   * The messages after the user's last are calls of tools and their results, in one turn that is not over while the answer
   * calls more. Of the turn, the user's message and the final answer are kept.
   */
  readonly toolTurn?: boolean | undefined
  /** Keeps a chat without a session as one of its own, under a name that this title gives. */
  readonly keep?: string | undefined
  /** Throws where the caller may not chat as the persona with this id, or without one in a saved conversation. */
  readonly allow?: ((persona: string | undefined) => void) | undefined
  /** The payer of requests to a model behind the answer; by default the owner. */
  readonly by?: OnBehalf | undefined
  readonly signal?: AbortSignal | undefined
}

export interface PreparedChat {
  readonly request: OpenRequest
  /** The memories that were placed in the request: lore, with a score of 1, and then the others, best first. */
  readonly memories: readonly { readonly id: string; readonly score: number }[]
  /** The parts of the user's message, kept in the persona's memory or refused; absent where this chat writes none. */
  readonly keeping?: readonly Keeping[]
  /** Where the user asks to forget something, the memories that this may mean, best first. */
  readonly forget?: readonly Pick<MemoryEntry, 'id' | 'content'>[]
  /** The lines of the profile that this may mean. */
  readonly forgetLines?: readonly Pick<ProfileLine, 'id' | 'text'>[]
  /** Whether they go with the answer, or after a yes. */
  readonly forgets?: 'ask' | 'at_once'
  /** What the user sees of the search for memories. */
  readonly warnings: readonly string[]
  /** The id of the persona; absent where none answers. */
  readonly persona?: string
  /** Whether the persona's model will look for facts in the kept parts. */
  readonly extract?: 'auto'
  /** The MCP servers that the persona may use in this chat; absent for none. */
  readonly servers?: readonly string[]
  /**
   * Saves the turn: in the conversation, with the cost and the circumstances of its answer, and in the persona's memory unless
   * the answer is cut or missing. Resolves with the conversation, where there is one. Absent where the turn leaves nothing.
   */
  finish?(answer: Message | undefined, about: AboutAnswer): Promise<Pick<Conversation, 'id' | 'name'> | undefined>
}

/** The cost and the circumstances of an answer. */
export type AboutAnswer = Pick<SavedMessage, 'cost'> & Required<Pick<SavedMessage, 'answer'>>

export interface PersonaChatParts {
  readonly personas: Pick<Personas, 'open'>
  readonly memories: Pick<Memories, 'search' | 'store' | 'edit' | 'forget'>
  readonly lorebooks: Lorebooks
  readonly conversations: Pick<Conversations, 'get' | 'messages' | 'withFiles' | 'add' | 'keep' | 'recordMemories'>
  readonly profiles: Pick<Profiles, 'prompt' | 'said' | 'read' | 'remove'>
  /** The persona's learned state as text for the model; '' for none. */
  readonly learned: (opened: OpenedPersona) => Promise<string>
  /** Receives a user message that follows an answer. */
  readonly observe: (persona: Persona, text: string) => Promise<void>
  /** Throws `unavailable` where a persona's memories are embedded on another machine. */
  readonly requireLocalEmbedder: (persona: Persona) => void
  /** Looks for facts in the memories of the user's turn, behind the answer. */
  readonly remembered: (persona: Persona, memories: readonly MemoryEntry[], by: OnBehalf) => void
  /** Takes the keys of this installation out of a text. */
  readonly redact: Redact
}

const noHistory: { readonly messages: readonly SavedMessage[]; readonly left: number } = { messages: [], left: 0 }

/** Messages at the end of a conversation among which a summary in place of the others is looked for. */
const mostBehindSummary = 200

/** Bytes of pictures and files in a request: 32 MB in base64, the longest request that Anthropic takes. */
const mostFileBytes = 24_000_000

function filesLeft(count: number): string {
  const what = count === 1 ? 'A picture or file' : `${count} pictures and files`
  return `${what} of earlier messages left out: a request holds ${mostFileBytes} bytes of them, and a user's sessions 500 MB`
}

const nothingFound: Recalled = { hits: [], cut: false }

const searchCut = 'Too many long memories of the persona may match for one search: some were not read'

interface Recalled extends Pick<SearchOutcome, 'hits' | 'cut'> {
  /** A memory of the same words by the user, also of another conversation: it is said again. */
  readonly twin?: MemoryEntry | undefined
}

/** The most memories in a request, and their characters in all. */
const mostRecalled = 8
const recalledCharacters = 6_000
/** The most characters of one memory in a request; a longer one is cut, with a note. */
const longestRecalled = 3_000

/** Prepares chats with a persona or in a saved conversation. */
export function createPersonaChat(parts: PersonaChatParts) {
  return {
    /** Throws `not_found` or `forbidden` for a persona or session that is not there or not the caller's. */
    async prepare({
      owner,
      speaker = 'user',
      persona: named,
      session,
      conversation: label,
      memory,
      request,
      toolTurn = false,
      keep,
      allow,
      by = {},
      signal,
    }: PersonaChatCall): Promise<PreparedChat> {
      const turn = toolTurn ? withoutToolCalls(request.messages) : request.messages
      const conversation = session === undefined ? undefined : await parts.conversations.get(owner, session)
      const name = named ?? conversation?.persona_id
      const opened = name === undefined ? undefined : await parts.personas.open(owner, name)
      const persona = opened?.persona
      if (conversation) allow?.(conversation.persona_id)
      if (persona) allow?.(persona.id)
      const saved = conversation ? await historyOf(conversation, request.messages) : noHistory
      const history = by.localOnly ? withoutAddresses(saved.messages) : saved.messages
      const whole = lastUserText(turn)
      // A message may have 30 MiB: it is cut before it is searched for and learned from.
      const text = whole.slice(0, maxContentLength).trim()
      const end = whole.slice(-queryLength).trim()
      const hasMemory = persona !== undefined && memory !== false && memorySettingsOf(persona).enabled
      const before = sentMessages(history, request.messages)
      if (hasMemory && by.localOnly) parts.requireLocalEmbedder(persona)
      const target = hasMemory ? forgetRequest(whole.slice(0, queryLength)) : undefined
      const settings = persona && memorySettingsOf(persona)
      // A caller that has left ends the search, unless the question is kept.
      const search = () =>
        recall(persona!, end, [...before, ...turn], signal).catch((reason: unknown) => {
          if (keep !== undefined && signal?.aborted) return nothingFound
          throw reason
        })
      // A wish to forget is searched for by what it names, and in what was just said, too.
      const { hits, cut, twin } = hasMemory && target === undefined ? await search() : nothingFound
      const meant =
        target === undefined ? undefined : await meantBy(parts.memories, persona!, opened!.profile, target, signal)
      const lore = opened && memory !== false ? await calledLore(opened, [...before, ...turn]) : []
      const profile = opened && memory !== false ? await parts.profiles.prompt(opened, hasMemory) : ''
      const { system, notes } = opened ? await promptsOf(opened, profile, hits, lore) : { system: '', notes: '' }
      const work = { user: owner, isOver: () => keep === undefined && signal?.aborted === true }
      const keeping = hasMemory ? await inTurns(keepingSteps(wellFormed(text), parts.redact, end), work) : undefined
      const followsAnswer = before.length > 0 || turn.length > 1
      const isLearnedFrom = persona && memory !== false && (keeping !== undefined || (followsAnswer && text !== ''))
      // System prompts stand first, where every model expects them.
      const talk = request.messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
      const prompts = talk < 0 ? request.messages.length : talk
      const messages = [
        ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
        ...request.messages.slice(0, prompts),
        ...(before[0]?.role === 'assistant' ? [opening] : []),
        ...before,
        ...request.messages.slice(prompts),
      ]
      const full: OpenRequest = {
        ...persona?.parameters,
        ...(persona && { model: persona.model }),
        ...given(request),
        messages: withInstructions(withNotes(markPrefix(messages, request), notes), persona?.post_history_instructions),
      }
      return {
        request: full,
        memories: [
          ...lore.map(({ id }) => ({ id, score: 1 })),
          ...hits.map(({ entry, score }) => ({ id: entry.id, score })),
        ],
        warnings: [...(cut ? [searchCut] : []), ...(saved.left > 0 ? [filesLeft(saved.left)] : [])],
        ...(persona && { persona: persona.id }),
        ...(meant && {
          forget: meant.memories.map(({ entry }) => ({ id: entry.id, content: entry.content })),
          forgetLines: meant.lines.map(({ id, text }) => ({ id, text })),
          forgets: settings?.forget ?? 'ask',
        }),
        ...(keeping && { keeping }),
        ...extractOf(persona, keeping),
        ...(persona?.mcp_servers && !toolTurn && { servers: persona.mcp_servers }),
        ...((conversation || keep !== undefined || isLearnedFrom) && { finish }),
      }

      async function finish(answer: Message | undefined, about: AboutAnswer) {
        if (toolTurn && answer?.tool_calls) return undefined
        const persona_id = persona?.id
        const record = { ...about.answer, ...(persona_id !== undefined && { persona_id }) }
        const messages = [
          ...spokenMessages(turn).map((message) => ({ message })),
          ...(answer ? [{ message: answer, ...about, answer: record }] : []),
        ]
        const number = conversation && (await parts.conversations.add(conversation, messages))
        const kept =
          conversation ??
          (keep === undefined
            ? undefined
            : await parts.conversations.keep(owner, { title: keep, persona: persona_id, messages }))
        if (!opened || !persona || !answer || record.cut || memory === false) return kept
        if (meant && settings?.forget === 'at_once') await removeMeant(persona, meant)
        if (keeping) {
          const where = conversation?.id ?? (label && conversationLabel(owner, label))
          if (isConfirmation(text)) await confirm(persona, before.at(-1) ?? turn.at(-2))
          const { said, added } = await remember(persona, keeping, textOf(answer.content), { speaker, where, twin })
          if (kept && added.length > 0) await parts.conversations.recordMemories(kept, number ?? messages.length, added)
          if (!keeping.some(({ refusal }) => refusal !== undefined && secretly.has(refusal)))
            await parts.profiles.said(opened, text, said)
          parts.remembered(persona, said, by)
        }
        if (followsAnswer && text !== '') await parts.observe(persona, text)
        return kept
      }
    },
  }

  async function removeMeant(persona: Persona, { memories, lines }: Meant): Promise<void> {
    await parts.memories.forget(
      persona.user_id,
      persona.id,
      memories.map(({ entry }) => entry.id),
    )
    // Those that came from these memories went with them.
    const { lines: left } = await parts.profiles.read(persona)
    const rest = left.filter(({ id }) => lines.some((line) => line.id === id)).map(({ id }) => id)
    if (rest.length > 0) await parts.profiles.remove(persona, rest)
  }

  /** The saved messages with the files that fit into a request beside those of the new messages. */
  async function historyOf(conversation: Conversation, next: readonly Message[]) {
    const read = (after: number) => parts.conversations.messages(conversation.user_id, conversation.id, { after })
    const before = Math.max(0, conversation.messages - mostBehindSummary)
    const saved = compactedEnd(await read(before), before) ?? compacted(await read(0))
    const shown = next.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly ContentPart[]) : []))
    const room = mostFileBytes - shown.reduce((sum, part) => sum + mediaSize(part), 0)
    return parts.conversations.withFiles(conversation, saved, Math.max(0, room))
  }

  /** The memories that match the end of the message, without those in the request already and without mere questions. */
  async function recall(
    persona: Persona,
    end: string,
    messages: readonly Message[],
    signal: AbortSignal | undefined,
  ): Promise<Recalled> {
    if (end === '') return nothingFound
    const asked = { query: end, limit: mostRecalled * 3, signal }
    const { hits, cut } = await parts.memories.search(persona, asked)
    const present = latestTexts(messages)
    const relevant = hits.filter(({ relevant, entry }) => relevant && !isLore(entry.metadata))
    const ofAnswers = (isOwn: boolean) => relevant.filter(({ entry }) => isAnswer(entry.metadata) === isOwn)
    const chosen: SearchHit[] = []
    let length = 0
    // Lore comes by its keys alone; the persona's answers get what room the user's words leave.
    for (const hit of [...ofAnswers(false), ...ofAnswers(true)]) {
      const { content: whole } = hit.entry
      if (chosen.length === mostRecalled || present.some((text) => holds(text, whole))) continue
      const content = shortened(whole)
      if (length + content.length > recalledCharacters) continue
      length += content.length
      chosen.push({ ...hit, entry: { ...hit.entry, content } })
    }
    const twin = hits.find(({ entry }) => isTold(entry) && isSaidAlike(entry.content, end))?.entry
    return { hits: chosen, cut, twin }
  }

  /** The lore that the last messages call for. */
  function calledLore({ persona, lore }: OpenedPersona, messages: readonly Message[]): Promise<readonly MemoryEntry[]> {
    const spoken = messages.filter(({ role }) => role === 'user' || role === 'assistant')
    return parts.lorebooks.called(
      persona,
      lore,
      spoken.slice(-loreLimits.depth).map(({ content }) => textOf(content)),
    )
  }

  /** The system prompt, which seldom changes, and the notes of each turn, which a persona may have in it too. */
  async function promptsOf(
    opened: OpenedPersona,
    profile: string,
    hits: readonly SearchHit[],
    lore: readonly MemoryEntry[],
  ): Promise<{ readonly system: string; readonly notes: string }> {
    const learned = await parts.learned(opened)
    const { persona } = opened
    const { system_prompt: own = '' } = persona
    const found = memoryPrompt(hits)
    if (memorySettingsOf(persona).placement === 'system')
      return { system: joined(own, lorePrompt(persona, lore), learned, profile, found), notes: '' }
    const isConstant = ({ metadata }: MemoryEntry) => loreOf(metadata)?.constant === true
    const constant = lore.filter(isConstant)
    const called = lore.filter((entry) => !isConstant(entry))
    return {
      system: joined(own, lorePrompt(persona, constant), learned, profile),
      notes: joined(lorePrompt(persona, called), found),
    }
  }

  /** Has the memories of an answer count as the user's words, which confirmed it. */
  async function confirm(persona: Persona, answer: Message | undefined): Promise<void> {
    if (answer?.role !== 'assistant') return
    for (const { content, refusal } of keepingOfAnswer(wellFormed(textOf(answer.content)), parts.redact)) {
      if (refusal !== undefined) continue
      const { hits } = await parts.memories.search(persona, {
        query: content.slice(0, queryLength),
        limit: mostRecalled,
      })
      const entry = hits.find((hit) => hit.entry.content === content && kindOf(hit.entry) === 'answer')?.entry
      if (entry) await parts.memories.edit(persona, entry, { metadata: { kind: 'statement' } })
    }
  }

  /**
   * Stores the parts of a turn that are memories, and those of its answer. An answer to a turn that left nothing, such
   * as a request or thanks, is no memory either. Resolves with the memories of the user's words, and the ids of those that
   * were not there before.
   */
  async function remember(
    persona: Persona,
    keeping: readonly Keeping[],
    answer: string,
    { speaker, where, twin }: { speaker: string; where: string | undefined; twin: MemoryEntry | undefined },
  ): Promise<{ readonly said: readonly MemoryEntry[]; readonly added: readonly string[] }> {
    if (keeping.every(({ refusal }) => refusal !== undefined)) return { said: [], added: [] }
    const labels = { source: 'chat', ...(where && { conversation: where }) }
    const said = memoriesOf(keeping, { ...labels, speaker }).map((memory) => saidAgain(memory, twin))
    const memories = [
      ...said,
      ...memoriesOf(keepingOfAnswer(wellFormed(answer), parts.redact), {
        ...labels,
        speaker: persona.name,
        role: 'assistant',
      }),
    ]
    const { entries, added } = await parts.memories.store(persona, memories)
    return { said: entries.slice(0, said.length), added }
  }
}

/** A memory as the one of the same words that is there already: it is renewed, and not stored twice. */
function saidAgain(memory: MemoryInput, twin: MemoryEntry | undefined): MemoryInput {
  if (!twin || twin.metadata['speaker'] !== memory.metadata['speaker']) return memory
  if (!isSaidAlike(memory.content, twin.content)) return memory
  const { conversation: _own, ...labels } = memory.metadata
  const conversation = conversationOf(twin.metadata)
  const { source } = twin.metadata
  return {
    ...memory,
    content: twin.content,
    metadata: { ...labels, source, ...(conversation !== '' && { conversation }) },
  }
}

/** Reasons against a memory that are reasons against a line of the profile as well; a request may say how to answer from now on. */
const secretly: ReadonlySet<Refusal> = new Set(['secret', 'off the record', 'forget'])

function extractOf(
  persona: Persona | undefined,
  keeping: readonly Keeping[] | undefined,
): Pick<PreparedChat, 'extract'> {
  const extract = persona ? memorySettingsOf(persona).extract : 'off'
  return extract !== 'off' && keeping?.some(({ refusal }) => refusal === undefined) ? { extract } : {}
}

function memoriesOf(keeping: readonly Keeping[], metadata: MemoryInput['metadata']): readonly MemoryInput[] {
  return keeping.flatMap(({ content, importance }) =>
    importance === undefined ? [] : [{ content, importance_score: importance, metadata }],
  )
}

/** Characters of a request, from its end, that are searched for memories which it holds already. */
const searchedCharacters = 1_000_000

/**
 * Characters of a memory that a text is searched for: of a longer one in a text made for it, V8 compares the product of
 * both lengths.
 */
const soughtCharacters = 200
/** Places with the beginning of a memory that are compared with all of it. */
const soughtPlaces = 8

/** Whether a text holds a memory. */
function holds(text: string, memory: string): boolean {
  const start = memory.slice(0, soughtCharacters)
  let at = text.indexOf(start)
  for (let places = 1; at >= 0 && places < soughtPlaces && !text.startsWith(memory, at); places++)
    at = text.indexOf(start, at + 1)
  return at >= 0 && text.startsWith(memory, at)
}

/** The texts of the last messages; each as far as a turn is remembered. */
function latestTexts(messages: readonly Message[]): readonly string[] {
  const texts: string[] = []
  let left = searchedCharacters
  for (const message of messages.toReversed()) {
    const text = textOf(message.content).slice(0, maxContentLength)
    left -= text.length
    if (left < 0) break
    texts.push(text)
  }
  return texts
}

/**
 * Stands before a conversation that the persona begins with its greeting: Anthropic's API answers 400 where the first message
 * is not the user's.
 */
const opening: Message = { role: 'user', content: '[The conversation begins.]' }

/** Cuts a text to `longestRecalled` characters, with a note of its length. */
function shortened(content: string): string {
  if (content.length <= longestRecalled) return content
  const note = ` … [${content.length.toLocaleString('en')} characters in all]`
  return wellFormed(content.slice(0, longestRecalled - note.length)) + note
}

/** Texts with a blank line between them; empty ones are left out. */
function joined(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** The query for memories: the most characters from the end of a message. */
const queryLength = 4_000

/** The text of the last message; '' when it is not the user's. */
function lastUserText(messages: readonly Message[]): string {
  const last = messages.at(-1)
  return last?.role === 'user' ? textOf(last.content) : ''
}

/** Drops absent fields; null counts as absent, as in OpenAI's requests. */
function given(request: OpenRequest): OpenRequest {
  const fields = Object.entries(request).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(fields) as unknown as OpenRequest
}
