import type { ChatCall, Message } from '../chat/chat.ts'
import type { AboutAnswer, OpenRequest, PreparedChat } from '../personas/personas.ts'

/** A checked chat, of a request in any dialect. */
export interface ChatOrder extends Pick<ChatCall, 'plugin' | 'fallback' | 'localOnly'> {
  /** Its model may be `persona:NAME`. */
  readonly request: OpenRequest
  readonly persona?: string | undefined
  /** A saved conversation. */
  readonly session?: string | undefined
  /** False keeps the persona from reading and writing memories. */
  readonly memory?: boolean | undefined
  /** Keeps the chat as a session; where its reader leaves, the beginning of the answer is kept, or the question alone. */
  readonly keep?: Keep | undefined
  /** The client calls tools, see PersonaChatCall. */
  readonly toolTurn?: boolean | undefined
  /** The stream shows each step of a tool call, and asks its reader where the operator wants that. */
  readonly toolSteps?: boolean | undefined
  /** The client's own name for its conversation; no authority follows from it. */
  readonly conversation?: string | undefined
  /** The model as answers are to name it; without it they name a persona as the request does, else the model that answered. */
  readonly shownModel?: string | undefined
}

/** A chat with all that its persona and its saved conversation add, ready to be asked. */
export interface ReadyChat {
  readonly routed: ChatCall
  readonly chat?: PreparedChat
  /** The model as answers name it, where that is not the one that answered. */
  readonly model?: string
  /** Saves the exchange; absent where nothing of the chat is saved. */
  readonly finish?: Finish | undefined
  readonly order: ChatOrder
  /** When the chat was prepared, by performance.now(): milliseconds. */
  readonly begun: number
}

/** How a chat is kept as a session of its own. */
export interface Keep {
  /** Gives the session its name; by default the words of the question. */
  readonly title?: string
  readonly files?: readonly { readonly name: string; readonly bytes: number }[]
}

/** The session of a chat. */
export interface ChatPlace {
  readonly id: string
  readonly name: string
}

/** Saves an exchange, or a question alone; resolves with its session, where it has one. */
export type Finish = (answer: Message | undefined, about: AboutAnswer) => Promise<ChatPlace | undefined>
