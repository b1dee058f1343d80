import { AppError } from '../../src/errors.ts'
import { greekName, signName, signs } from './signs.ts'

/** The scripts that readers of a language know beside digits and punctuation; Latin letters for those not listed. */
const scriptsOf: Readonly<Record<string, readonly string[]>> = {
  Russian: ['Cyrillic'],
  Chinese: ['Han', 'Latin'],
  Japanese: ['Han', 'Hiragana', 'Katakana', 'Latin'],
  Korean: ['Hangul', 'Han', 'Latin'],
}

/** Whether an engine of some languages can speak a character; answers are cached. */
type Speakable = (character: string) => boolean

/**
 * Divides sanitised text for an engine of these languages: letters of other scripts and signs without a name
 * are not spoken. A single Greek letter has a name in every language; a Greek word has none.
 */
export function divideUnspoken(text: string, languages: readonly string[]) {
  if (/^[\x20-\x7e\n]*$/.test(text)) return { spoken: text, unspoken: [] }
  const speakable = speakableIn(languages)
  /** Each skipped run of letters or signs, as it was written. */
  const unspoken: string[] = []
  let spoken = ''
  let run = ''
  // White space and marks between two such letters belong to the run.
  let between = ''
  for (const [word] of text.matchAll(/\p{sc=Greek}\p{M}*(?:\p{sc=Greek}\p{M}*)+|./gsu)) {
    if (!speakable(word)) {
      run += between + word
      between = ''
    } else if (run !== '' && between === '' && /^\p{M}$/u.test(word)) run += word
    else if (run !== '' && /^[ ,.!?:;'’·・，、。！？：；-]$/u.test(word)) between += word
    else {
      end()
      spoken += word
    }
  }
  end()
  return { spoken: unspoken.length > 0 ? tidy(spoken) : text, unspoken }

  function end(): void {
    if (run !== '') unspoken.push(run)
    spoken += between
    run = between = ''
  }
}

function speakableIn(languages: readonly string[]): Speakable {
  const scripts = [...new Set(languages.flatMap((language) => scriptsOf[language] ?? ['Latin']))]
  const own = new RegExp(`^[${scripts.map((name) => `\\p{sc=${name}}`).join('')}]`, 'u')
  const known = new Map<string, boolean>()
  return (character) => {
    let answer = known.get(character)
    if (answer === undefined) {
      answer = isSpeakable(character, own)
      known.set(character, answer)
    }
    return answer
  }
}

function isSpeakable(character: string, own: RegExp): boolean {
  if (signName(character) !== undefined || /^[\p{P}\p{Z}\p{Cc}\p{sc=Inherited}]/u.test(character)) return true
  if (greekName(character)) return true
  // Compatibility characters (`ﬁ`, `①`, `Ⅳ`) can be read.
  if (/^\p{sc=Latin}/u.test(character) && !own.test('a')) return false
  if (/^[\p{sc=Latin}\p{sc=Common}]/u.test(character))
    return character in signs.letters || isPlain(character) || isOwnMark(character, own)
  return own.test(character)
}

/** ASCII by itself or taken apart: `é`, `ﬁ`, `①`, `㎞`. A sign made of others means something else than they do. */
function isPlain(character: string): boolean {
  if (character <= '~') return true
  const apart = character.normalize('NFKD')
  return /^[ -~\p{M}⁄]*$/u.test(apart) && (/[A-Za-z0-9]/.test(apart) || !/\p{S}/u.test(character))
}

/** Marks and squared units that Chinese, Japanese and Korean share. */
function isOwnMark(character: string, own: RegExp): boolean {
  return /^[\u3000-\u33ff\uff00-\uffef]/u.test(character) && own.test('漢')
}

/** Closes the gap of a skipped run, with the brackets or quotes that held only it. */
function tidy(text: string): string {
  return text
    .replace(/\([\s.,;:]*\)|"\s*"|“\s*”|‘\s*’|«\s*»|「\s*」/g, '')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/(?<! ) +([.,;:!?…])/g, '$1')
    .replace(/ ?\n ?/g, '\n')
    .trim()
}

/** The refusals of a text that is mostly unspoken. They cross HTTP, where a failure has no finer code. */
const mostlyUnspoken = /^The \S+ engine (?:cannot speak most of this text$|does not speak )/

/** Refuses a text that is mostly in letters unknown to the engine. */
export function mostlyUnspokenText(engine: string, details: readonly string[]): AppError {
  return new AppError('unavailable', `The ${engine} engine cannot speak most of this text`, { details })
}

/** Refuses a text in a language that the engine does not speak. */
export function otherLanguageText(engine: string, language: string, details: readonly string[]): AppError {
  return new AppError('unavailable', `The ${engine} engine does not speak ${language}`, { details })
}

/** Whether a failure is such a refusal, of this process or of a server. */
export function isMostlyUnspoken(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === 'unavailable' && mostlyUnspoken.test(thrown.message)
}
