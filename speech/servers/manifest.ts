import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import type { Voice } from '../engines/engine.ts'
import { readData } from '../shared/data.ts'

/** A variant of a server's model and its abilities. */
const variant = z.object({
  id: z.string(),
  description: z.string(),
  /** Whether it speaks with the voices of the server's table. */
  presets: z.boolean(),
  design: z.boolean(),
  clone: z.boolean(),
})

/** A speech server: its port, models, languages and voices, as `speech/servers/ID.json` lists them. */
const serverManifest = z.object({
  id: z.string(),
  name: z.string(),
  port: z.int(),
  /** The model names that clients may send; any other is taken too, since there is one model. */
  models: z.array(z.string()).min(1),
  languages: z.array(z.string()).min(1),
  default_variant: z.string(),
  variants: z.array(variant).min(1),
  default_voice: z.string(),
  voices: z.array(
    z.object({ id: z.string(), name: z.string(), language: z.string(), licence: z.string(), description: z.string() }),
  ),
  aliases: z.record(z.string(), z.string()),
  options: z.object({
    /** `stream: true` sends audio as it is made. */
    streaming: z.boolean(),
    /** A voice with a slash in its name is a path of the model hub. */
    hub_voices: z.boolean(),
    /** The repository that a path of two parts belongs to. */
    voice_repository: z.exactOptional(z.string()),
    clone: z.enum(['always', 'variant', 'never']),
    design: z.enum(['variant', 'never']),
    least_clip_seconds: z.number(),
    instruct: z.boolean(),
    cfg_coef: z.boolean(),
    /** The values of `--device`; none where there is no such option. */
    devices: z.array(z.string()),
  }),
})

export type ServerManifest = z.output<typeof serverManifest>
export type Variant = z.output<typeof variant>

/** The three servers, in the order in which they are listed and started. */
export const serverIds = ['voxa-tts', 'voxb-tts', 'voxb-tts-1.6b'] as const
export type ServerId = (typeof serverIds)[number]

export function isServerId(name: string): name is ServerId {
  return (serverIds as readonly string[]).includes(name)
}

const known = new Map<ServerId, ServerManifest>()

/** A server's manifest, read once. */
export function readManifest(id: ServerId): ServerManifest {
  const manifest = known.get(id) ?? serverManifest.parse(readData(`servers/${id}.json`))
  known.set(id, manifest)
  return manifest
}

/** A variant by name, the default one when none is named. Throws `usage` listing the variants. */
export function findVariant(manifest: ServerManifest, name = manifest.default_variant): Variant {
  const found = manifest.variants.find(({ id }) => id === name.toLowerCase())
  if (found) return found
  throw new AppError('usage', `Model "${name}" not found on ${manifest.id}`, {
    details: manifest.variants.map(({ id, description }) => `${id}: ${description}`),
  })
}

/** The voices as clients see them, each with its aliases. */
export function listVoices(manifest: ServerManifest): readonly (Voice & { readonly aliases: readonly string[] })[] {
  return manifest.voices.map((voice) => ({
    ...voice,
    aliases: Object.entries(manifest.aliases).flatMap(([alias, id]) => (id === voice.id ? [alias] : [])),
  }))
}

/** The id of a voice by its name or alias, in any case. Throws `not_found` listing the names. */
export function findVoice(manifest: ServerManifest, name: string): string {
  const wanted = name.trim().toLowerCase()
  const id = Object.hasOwn(manifest.aliases, wanted) ? manifest.aliases[wanted]! : wanted
  if (manifest.voices.some((voice) => voice.id === id)) return id
  throw new AppError('not_found', `Voice "${name.slice(0, 80)}" not found on ${manifest.id}`, {
    details: [
      `voices: ${manifest.voices.map((voice) => voice.id).join(', ')}`,
      `aliases: ${Object.keys(manifest.aliases).join(', ')}`,
    ],
  })
}

/** How to get a voice of a server that is pulled only when its licence was agreed to; undefined for any other voice. */
export function nonCommercialAdvice(server: ServerId, voice: string): string | undefined {
  const licence = readManifest(server).voices.find(({ id }) => id === voice.toLowerCase())?.licence
  if (!licence?.includes('-NC-')) return undefined
  return `it is for non-commercial use only (${licence}): \`aichat models pull ${server} --non-commercial\` brings it`
}
