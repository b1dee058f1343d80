import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { OpenReasoning, OwnReasoning, SealReasoning } from './dialects/responses/reasoning.ts'
import { parseObject } from './protocol/json-object.ts'

/** The place of an answer: its reasoning goes back to no other. */
export interface ReasoningPlace {
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
}

/** Reasoning of providers on its way through clients: they keep it, and can neither read nor make it. */
export interface ReasoningSeals {
  sealFor(user: string | undefined, place: ReasoningPlace): SealReasoning
  /** Opens texts that were sealed for the same user and place, and no others. */
  openFor(user: string | undefined, place: ReasoningPlace): OpenReasoning
}

/** The mark and version of texts sealed here; a text without it was sealed elsewhere. */
const mark = 'aichat1.'
const nonceBytes = 12
const tagBytes = 16

/** Whether a text was sealed by aichat, here or elsewhere. */
export function isSealed(text: string): boolean {
  return text.startsWith(mark)
}

/**
 * Seals with AES-256-GCM under a key derived from the installation's secrets: the first seals, every one opens. The user,
 * the place and the model are bound to the text, so that it opens for them alone.
 */
export function createReasoningSeals(secrets: () => readonly string[]): ReasoningSeals {
  let keys: readonly Buffer[] | undefined
  const known = () => {
    keys ??= secrets().map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'aichat reasoning 1', 32)))
    return keys
  }

  return {
    sealFor: (user, place) => (reasoning) => seal(known()[0]!, boundTo(user, place), JSON.stringify(reasoning)),
    openFor: (user, place) => (sealed) => {
      if (!isSealed(sealed)) return undefined
      const bytes = Buffer.from(sealed.slice(mark.length), 'base64url')
      if (bytes.length < nonceBytes + tagBytes) return undefined
      const about = boundTo(user, place)
      for (const key of known()) {
        const text = open(key, about, bytes)
        if (text !== undefined) return parseObject(text) as OwnReasoning | undefined
      }
      return undefined
    },
  }
}

function boundTo(user: string | undefined, { plugin, runner, model }: ReasoningPlace): Buffer {
  return Buffer.from(JSON.stringify([user ?? null, plugin, runner, model]))
}

function seal(key: Buffer, about: Buffer, text: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(about)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return mark + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** The text, or undefined where it was sealed under another key or for something else. */
function open(key: Buffer, about: Buffer, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes)).setAAD(about)
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}
