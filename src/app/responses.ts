import {
  createBackground,
  createConversations,
  createResponses,
  type ResponseParts,
  type ResponseStore,
} from '../chat/chat.ts'
import { startMaintenance } from '../personas/personas.ts'
import type { Settings } from '../settings/settings.ts'

/** The kept responses and conversations, and responses in the background. */
export type ResponseArea = ReturnType<typeof openResponses>

export interface ResponseAreaParts {
  readonly store: ResponseStore
  readonly settings: Settings
  /** The clock that decides about expiry. */
  readonly settledClock: () => number
  /** Removes expired responses now and then. */
  readonly maintains: boolean
}

const day = 86_400_000

/** The part of the composition root that keeps responses. */
export function openResponses({ store, settings, settledClock, maintains }: ResponseAreaParts) {
  const { responseDays } = settings
  const parts: ResponseParts = {
    store,
    lifetime: responseDays * day,
    bounds: {
      get responses() {
        return settings.limits.responsesPerUser
      },
      get bytes() {
        return settings.limits.responseBytesPerUser
      },
    },
    clock: Date.now,
  }
  const responses = createResponses(parts)
  const background = createBackground(responses)
  // Not while the clock may be wrong.
  const expire = async () => {
    if (settledClock() >= Date.now() - day) await responses.expire()
  }
  const upkeep = maintains ? startMaintenance({ maintain: expire }) : undefined
  return {
    responses,
    conversations: createConversations(parts),
    background,
    /** Ends the responses in the background, which stay as failed. */
    async close() {
      await background.close()
      await upkeep?.close()
    },
  }
}
