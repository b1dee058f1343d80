import type { z } from 'zod'
import { nearestName, printableLine } from '../formats/formats.ts'
import { looksLikeKey } from './key-shapes.ts'
import { type PluginManifest, pluginManifest } from './manifest.ts'
import { unwrapped } from './manifest-fields.ts'

/** The most warnings that are shown for one document; the rest is a count. */
const most = 20

/**
 * Warnings about a valid document that will not work as its author meant: fields that nothing reads, fallbacks that lead nowhere, and
 * a default that is not among the choices. One line each, with the place in the document.
 */
export function manifestWarnings(manifest: PluginManifest, plugins: ReadonlySet<string>): readonly string[] {
  const warnings = [...unknownFields(manifest, pluginManifest, [])]
  for (const [index, target] of (manifest.fallback ?? []).entries()) {
    const id = typeof target === 'string' ? target : target.plugin
    if (id === manifest.id) warnings.push(`fallback.${index}: is this plugin itself`)
    else if (id !== 'local' && !plugins.has(id))
      warnings.push(`fallback.${index}: there is no plugin ${quoted(id)}${meant(id, [...plugins])}`)
  }
  const { default_model: model, model_map: models } = manifest
  if (model !== undefined && !models.includes(model))
    warnings.push(`default_model: ${quoted(model)} is not in model_map${meant(model, models)}`)
  const { voices, default_voice: voice, formats, default_format: format } = manifest.capabilities?.tts?.config ?? {}
  const config = 'capabilities.tts.config'
  if (voice !== undefined && voices && !voices.includes(voice))
    warnings.push(`${config}.default_voice: ${quoted(voice)} is not in voices${meant(voice, voices)}`)
  if (format !== undefined && formats && !formats.includes(format))
    warnings.push(`${config}.default_format: ${quoted(format)} is not in formats`)
  return warnings.length > most ? [...warnings.slice(0, most), `and ${warnings.length - most} more`] : warnings
}

/** The fields at any level that the schema of plugins does not name, also of a document that is not valid: one line each. */
export function unknownFieldsOf(document: unknown): readonly string[] {
  const found = [...unknownFields(document, pluginManifest, [])]
  return found.length > most ? [...found.slice(0, most), `and ${found.length - most} more`] : found
}

/** Every field at any level that the schema does not name; they are kept, and nothing reads them. */
function* unknownFields(value: unknown, schema: z.core.$ZodType, path: readonly string[]): Generator<string> {
  const type = unwrapped(schema).schema._zod
  if (type.def.type === 'array' && Array.isArray(value)) {
    const { element } = type.def as z.core.$ZodArrayDef
    for (const [index, item] of value.entries()) yield* unknownFields(item, element, [...path, String(index)])
  } else if (type.def.type === 'record' && isObject(value)) {
    const { valueType } = type.def as z.core.$ZodRecordDef
    for (const [name, item] of Object.entries(value)) yield* unknownFields(item, valueType, [...path, name])
  } else if (type.def.type === 'union') {
    const { options } = type.def as z.core.$ZodUnionDef
    const fitting = options.find(
      (option) => unwrapped(option).schema._zod.def.type === (isObject(value) ? 'object' : typeof value),
    )
    if (fitting) yield* unknownFields(value, fitting, path)
  } else if (type.def.type === 'object' && isObject(value)) {
    const { shape } = type.def as z.core.$ZodObjectDef
    const known = Object.keys(shape)
    // An object without named fields is free for its author.
    if (known.length === 0) return
    for (const [name, item] of Object.entries(value))
      if (Object.hasOwn(shape, name)) yield* unknownFields(item, shape[name]!, [...path, name])
      else yield `${[...path, name].map(shown).join('.')}: no such field, so it has no effect${hint(name, known, path)}`
  }
}

/** A field of the same object with a similar name, else a top-level one of that name, else all there are. */
function hint(name: string, known: readonly string[], path: readonly string[]): string {
  const near = meant(name, known)
  if (near !== '') return near
  const atTop = path.length === 0 ? undefined : Object.keys(pluginManifest.shape).find((field) => field === name)
  if (atTop !== undefined) return ` (did you mean ${atTop}, at the top?)`
  const inAuth = path.length === 0 && Object.hasOwn(pluginManifest.shape.auth.shape, name)
  if (inAuth) return ` (did you mean auth.${name}?)`
  return path.length === 0 ? '' : ` (there are ${known.join(', ')})`
}

function meant(name: string, choices: readonly string[]): string {
  const near = nearestName(name.slice(0, 60), choices.slice(0, 1000))
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

function shown(name: string): string {
  return looksLikeKey(name) ? '…' : printableLine(name).slice(0, 60)
}

function quoted(text: string): string {
  return `"${shown(text)}"`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
