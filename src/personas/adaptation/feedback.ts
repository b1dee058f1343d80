import type { Observation } from './adaptations.ts'
import type { Signal } from './state.ts'

/** English phrases about the manner of an answer, each with its trait and direction. */
const phrases: readonly (readonly [pattern: RegExp, trait: string, target: number])[] = [
  [/\b(?:be brief|briefer|shorter|too long|more concise|keep it short|less verbose|fewer words)\b/, 'verbosity', -1],
  [/\b(?:more details?|more detailed|elaborate|too short|go deeper|longer answers?)\b/, 'verbosity', 1],
  [/\b(?:less formal|(?:not|don'?t be) so formal|more casual|less stiff)\b/, 'formality', -1],
  [/\b(?:more formal|less casual|more professional)\b/, 'formality', 1],
  [/\b(?:less technical|in simple terms|simpler|too complicated|in plain words)\b/, 'technical_depth', -1],
  [/\b(?:more technical|more technical depth|too simple)\b/, 'technical_depth', 1],
  [/\b(?:no(?: more)?|stop using|without|fewer) emojis?\b/, 'emoji_use', -1],
  [/\b(?:use|more) emojis?\b/, 'emoji_use', 1],
  [/\b(?:no(?: more)? jokes|more serious|be serious)\b/, 'humour', -1],
  [/\b(?:funnier|more humou?r|more jokes)\b/, 'humour', 1],
  [/\b(?:get to the point|more direct|just answer)\b/, 'directness', 1],
  [/\b(?:no|without|fewer) (?:lists|bullet points|bullets|headings)\b/, 'structure', -1],
  [/\b(?:use|more|as|in|with) (?:lists|bullet points|bullets)\b/, 'structure', 1],
  [/\b(?:friendlier|more friendly|kinder|warmer)\b/, 'warmth', 1],
]

/** Characters. A longer message is about its subject, and may quote such phrases. */
const longestFeedback = 240

/**
 * Reads feedback on the manner of an answer from the user message after it; undefined for none. Phrases are weak evidence:
 * the persona's settings and the rules of adaptation decide whether and when such an observation moves anything.
 */
export function noticeFeedback(message: string): Observation | undefined {
  if (message.length > longestFeedback) return undefined
  const text = message.toLowerCase().replaceAll('’', "'")
  const signals: Signal[] = []
  for (const [pattern, trait, target] of phrases)
    if (pattern.test(text) && !signals.some((signal) => 'trait' in signal && signal.trait === trait))
      signals.push({ trait, target })
  return signals.length === 0 ? undefined : { trigger_event: 'user_correction', signals }
}
