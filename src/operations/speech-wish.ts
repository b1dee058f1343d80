import { z } from 'zod'
import { speeds } from '../../speech/speech.ts'

/** Whether and how an answer is spoken while it comes. */
export const speechWish = z.union([
  z.boolean(),
  z.strictObject({
    model: z.exactOptional(z.string().max(300)),
    voice: z.exactOptional(z.string().max(500)),
    language: z.exactOptional(z.string().max(100)),
    instruct: z.exactOptional(z.string().max(2000)),
    speed: z.exactOptional(z.number().min(speeds.least).max(speeds.most)),
  }),
])

/** What a chunk of a spoken answer has in `aichat.speech`: audio, and at the end the counts or the failure. */
export const spokenPart = z.object({
  /** Bytes in base64; together they are one WAV file whose header states no length. */
  audio: z.exactOptional(z.string()),
  spoken: z.exactOptional(z.int()),
  total: z.exactOptional(z.int()),
  skipped: z.exactOptional(z.array(z.string())),
  error: z.exactOptional(z.string()),
  code: z.exactOptional(z.string()),
})

export type SpeechWish = Exclude<z.output<typeof speechWish>, boolean>
export type SpokenPart = z.input<typeof spokenPart>
