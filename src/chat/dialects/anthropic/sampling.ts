import { compact, type JsonObject } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { stopsOf } from '../shared/request-writer.ts'

/** The ways to steer the choice of words that Anthropic's messages have. */
const names = ['temperature', 'top_p', 'top_k'] as const

type Sampling = { readonly [name in (typeof names)[number]]: number | undefined }

/**
 * The sampling of a request as a Claude model takes it. From Opus 4.7 and the fifth generation on models refuse it
 * (https://docs.anthropic.com/en/docs/about-claude/models/migrating-to-claude-4), and from Opus 4.1 on they take
 * temperature or top_p, not both: then temperature counts. Anthropic's scale of temperature ends at 1.
 */
export function samplingOf(request: ChatRequest): Sampling {
  const temperature = typeof request.temperature === 'number' ? Math.min(request.temperature, 1) : undefined
  const { top_p: topP, top_k: topK, model } = request
  const version = versionOf(model)
  // The default value is accepted by every model.
  if (version >= 407) return { temperature: temperature === 1 ? 1 : undefined, top_p: undefined, top_k: undefined }
  const hasBoth = version >= 401 && temperature !== undefined
  return { temperature, top_p: hasBoth ? undefined : (topP ?? undefined), top_k: topK ?? undefined }
}

/** The asked sampling that `samplingOf` leaves out, unless an Anthropic client asked for it itself. */
export function lostSampling(request: ChatRequest): readonly string[] {
  const kept: JsonObject = { ...compact(samplingOf(request)), ...extraOf(request, 'anthropic') }
  return names.filter((name) => typeof request[name] === 'number' && request[name] !== 1 && kept[name] === undefined)
}

/** The texts that end an answer, as Anthropic takes them: it refuses those of white space alone. */
export function ownStops(request: ChatRequest): readonly string[] | undefined {
  return stopsOf(request)?.filter(isMoreThanSpace)
}

/** A sentence for each value that Anthropic gets in another form than it was asked, in sampling that it does take. */
export function changedSampling(request: ChatRequest, sent: JsonObject): readonly string[] {
  const { temperature: asked } = request
  const { temperature } = sent
  const isCut = typeof asked === 'number' && typeof temperature === 'number' && asked > temperature
  return [
    ...(isCut ? [`temperature: ${temperature} in place of ${asked}, since Anthropic's scale ends there`] : []),
    ...(stopsOf(request)?.every(isMoreThanSpace) === false
      ? ['stop: texts of white space alone are left out, since Anthropic refuses them']
      : []),
  ]
}

function isMoreThanSpace(text: string): boolean {
  return text.trim() !== ''
}

/** 407 for claude-opus-4-7 and 500 for claude-sonnet-5; 0 for the third generation, named number first. */
function versionOf(model: string): number {
  if (/claude-mythos-preview/.test(model)) return 500
  const found = /claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(model)
  return found ? Number(found[1]) * 100 + Number(found[2] ?? 0) : 0
}
