import { isOnlyQuestions } from '../memory/questions.ts'
import { termsOf } from '../memory/ranking-terms.ts'
import { isRequest } from '../memory/requests.ts'
import { isSmallTalk } from '../memory/small-talk.ts'
import { forgetRequest, isOffTheRecord } from './forgetting.ts'
import { holdsSecret } from './secrets.ts'

/** Why a part of a turn is no memory. */
export type Refusal = 'no words' | 'small talk' | 'request' | 'code' | 'secret' | 'off the record' | 'forget'

/** A part of a turn, and whether it becomes a memory. */
export interface Keeping {
  readonly content: string
  /** The importance of the memory, from 0 to 1; absent where it is refused. */
  readonly importance?: number
  readonly refusal?: Refusal
}

/** Takes the secrets that are known by their value out of a text. */
export type Redact = (text: string) => string

/** The importance of a statement, of a mere question, and of an answer of the model, which must not outrank its user. */
const importance = { statement: 0.5, question: 0.2, answer: 0.3 } as const

/** Characters of an answer that are looked at; the rest of a longer one elaborates. */
const longestAnswer = 3_000

/**
 * The parts of a user's turn, kept in the memory or refused, in their order, in steps for `inTurns`: yields the characters
 * that are read in the time of each. A turn of requests alone keeps none.
 * @param end the last words of the turn, where `text` is only its beginning
 */
export function* keepingSteps(text: string, redact: Redact, end: string): Generator<number, readonly Keeping[]> {
  const whole = text.trim()
  if (whole === '') return []
  yield costOfRules * whole.length
  // A request is refused with the text that it is about; but a secret is named as the reason first.
  const refusal = isOffTheRecord(end) ? 'off the record' : refusalOfWhole(whole, redact)
  if (refusal) return [{ content: whole, refusal }]
  yield costOfRules * whole.length
  const all: Keeping[] = []
  for (const content of partsOf(whole)) {
    const reason = refusalOf(content, redact)
    if (reason) all.push({ content, refusal: reason })
    else all.push({ content, importance: isOnlyQuestions(content) ? importance.question : importance.statement })
    yield costOfRules * content.length
  }
  return all
}

/** Characters of ranking in the time in which the rules of keeping read one. */
const costOfRules = 10

/** Why nothing of a turn is kept; a secret is a reason against its part alone. */
function refusalOfWhole(whole: string, redact: Redact): Refusal | undefined {
  if (isOffTheRecord(whole)) return 'off the record'
  if (holdsKnownSecret(whole, redact)) return undefined
  if (forgetRequest(whole) !== undefined) return 'forget'
  return isRequest(whole) ? 'request' : undefined
}

/** The same for the model's answer to a turn that kept something itself. */
export function keepingOfAnswer(text: string, redact: Redact = (same) => same): readonly Keeping[] {
  return partsOf(text.slice(0, longestAnswer).trim()).map((content) => {
    const reason = isRequest(content) ? undefined : refusalOf(content, redact)
    if (reason) return { content, refusal: reason }
    return { content, importance: isOnlyQuestions(content) ? importance.question : importance.answer }
  })
}

/** Why a text is no memory; undefined for one that is. */
export function refusalOf(text: string, redact: Redact = (same) => same): Refusal | undefined {
  if (termsOf(text).length === 0) return 'no words'
  if (holdsKnownSecret(text, redact)) return 'secret'
  if (isFenced(text) || isPastedCode(text)) return 'code'
  if (isSmallTalk(text)) return 'small talk'
  if (isRequest(text)) return 'request'
  return undefined
}

function holdsKnownSecret(text: string, redact: Redact): boolean {
  return holdsSecret(text) || redact(text) !== text
}

/** Characters up to which a turn is one memory. */
const shortTurn = 1_000
/** The least and the most characters of a part; a turn's last words may be fewer. */
const shortestPart = 80
const longestPart = 1_500
/** Parts of one turn, roughly: each is embedded and indexed. A turn with more paragraphs has several in a part. */
const fewParts = 12

/**
 * Splits a long turn where it has parts: at code blocks, at empty lines, between the items of a list (each part repeats
 * its heading), and at the ends of sentences where a paragraph is too long. A turn of 1,000 characters or fewer is one
 * part, without its code blocks.
 */
export function partsOf(text: string): readonly string[] {
  const blocks = fencedBlocks(text)
  return blocks.flatMap((block) => {
    if (isFenced(block) || block.length <= shortTurn) return [block]
    const least = Math.max(shortestPart, Math.ceil(block.length / fewParts))
    const pieces = block
      .split(/\n[^\S\n]*\n\s*/)
      .map((paragraph) => paragraph.trim())
      .filter((paragraph) => paragraph !== '')
    return joined(headed(pieces).flatMap(shortPieces), least)
  })
}

/** A text apart from its code blocks, each of which is a piece of its own. */
function fencedBlocks(text: string): readonly string[] {
  return text
    .split(/^(```[\s\S]*?(?:^```[^\S\n]*$|(?![\s\S])))/m)
    .map((block) => block.trim())
    .filter((block) => block !== '')
}

function isFenced(text: string): boolean {
  return text.startsWith('```')
}

/** A paragraph that ends with a colon, and a heading of Markdown, belong to the paragraph that follows. */
function headed(paragraphs: readonly string[]): readonly string[] {
  const all: string[] = []
  let heading = ''
  for (const paragraph of paragraphs) {
    const isHeading = paragraph.length <= longestHeading && /[:：]$|^#{1,6}\s[^\n]*$/.test(paragraph)
    if (isHeading) heading = heading === '' ? paragraph : `${heading}\n${paragraph}`
    else {
      all.push(heading === '' ? paragraph : `${heading}\n${paragraph}`)
      heading = ''
    }
  }
  return heading === '' ? all : [...all, heading]
}

/** Characters of a heading that parts repeat. */
const longestHeading = 200

/** A paragraph in pieces of at most `longestPart` characters: by its lines under its heading, else by its sentences. */
function shortPieces(paragraph: string): readonly string[] {
  if (paragraph.length <= longestPart) return [paragraph]
  const lines = paragraph.split('\n')
  const isList = lines.length > 2 && lines.slice(1).every((line) => line.length <= longestPart - longestHeading)
  if (isList) {
    const first = lines[0]!
    const isHeading = first.length <= longestHeading && !/^\s*(?:[-*•]|\d+[.)])\s/.test(first)
    const heading = isHeading ? `${first}\n` : ''
    return packed(isHeading ? lines.slice(1) : lines, '\n', longestPart - heading.length).map((part) => heading + part)
  }
  const sentences = paragraph.match(/[\s\S]+?(?:[.!?](?=\s)\s*|[。！？]|$)/gu) ?? [paragraph]
  return packed(sentences.flatMap(cut), '', longestPart).map((part) => part.trim())
}

/** A sentence in pieces of at most `longestPart` characters, at spaces where it has some. */
function cut(sentence: string): readonly string[] {
  const pieces: string[] = []
  let rest = sentence
  while (rest.length > longestPart) {
    const space = rest.lastIndexOf(' ', longestPart)
    // Half a character would not be text.
    const end = space > longestPart / 2 ? space : longestPart - Number(/[\ud800-\udbff]/.test(rest[longestPart - 1]!))
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...pieces, rest]
}

/** Neighbours put together as long as they are not longer than `most`. */
function packed(pieces: readonly string[], between: string, most: number): readonly string[] {
  const all: string[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last !== undefined && last.length + between.length + piece.length <= most)
      all[all.length - 1] = last + between + piece
    else all.push(piece)
  }
  return all
}

/** Pieces that are too short to stand alone are put to the next one, the last to the one before. */
function joined(pieces: readonly string[], least: number): readonly string[] {
  const all: string[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    const isShort = last !== undefined && (last.length < least || piece.length < shortestPart)
    if (isShort && last.length + piece.length + 2 <= longestPart) all[all.length - 1] = `${last}\n\n${piece}`
    else all.push(piece)
  }
  return all
}

/** Whether a text is pasted code, configuration, command or error: most of its lines, or its only one for sure. */
function isPastedCode(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return false
  if (errorMessage.test(text)) return true
  const code = lines.filter(isCodeLine).length
  if (lines.length === 1) return strongLines.some((pattern) => pattern.test(lines[0]!.trim()))
  if (isConfiguration(lines)) return true
  return code * 2 >= lines.length && lines.some((line) => strongLines.some((pattern) => pattern.test(line.trim())))
}

/** The name of an exception with its message, or the trace of a stack. */
const errorMessage =
  /(?:^|[\s"'`(])(?:[A-Z]\w*(?:Error|Exception)|Traceback \(most recent call last\)|panic|error\[E\d+\]|npm ERR!|segmentation fault|fatal error): ?\S|Traceback \(most recent call last\)|^\s+at \S+ \(?\S+:\d+:\d+\)?$/m

function isCodeLine(line: string): boolean {
  const text = line.trim()
  return (
    strongLines.some((pattern) => pattern.test(text)) ||
    /[;{}]$|^[})\]]+[,;]?$|=>|^\s*(?:\/\/|\/\*|\*\s|#\s?\w|--\s)|^\S+\s?[-+*/]?=\s?\S/.test(text) ||
    /^(?:for|while|if|elif|else|with|try|except)\b.*:$|^\w+(?:\.\w+)*\([^()]*\)$/.test(text) ||
    (/^\s{2,}/.test(line) &&
      /^(?:return|if|else|for|while|try|except|catch|elif|case|end|self\.|this\.|"""|@)/.test(text))
  )
}

/** Lines that prose does not have. */
const strongLines: readonly RegExp[] = [
  /^```/,
  /^(?:async )?def \w+\([^)\n]*\).*:$/,
  /^(?:export |public |private |static |async |protected |final )*(?:function|class|interface|struct|enum|fn|func|void|int|string|bool|double)\b[^.!?]*[({:]/,
  /^(?:const|let|var|val|auto) [\w{}[\], ]+(?::\s?[\w<>[\]]+)?\s?=\s?\S/,
  /^(?:import [\w.*{}, ]+(?: from ['"].*)?;?|from [\w.]+ import .+|#include\s?[<"].*|using [\w.]+;|package [\w.]+;|require\(.*\);?)$/,
  /^(?:select|insert\s+into|delete\s+from|create\s+(?:table|index|view|database)|alter\s+table|drop\s+table|update\s+\w+\s+set)\b[\s\S]*(?:\bfrom\b|\bvalues\b|\bset\b|\bwhere\b|\(|;)[\s\S]*;?$/i,
  /^(?:\$ |# |> )?(?:sudo )?(?:git|docker|docker-compose|npm|npx|yarn|pnpm|curl|wget|ssh|scp|rsync|kubectl|helm|pip3?|apt|apt-get|brew|dnf|yum|pacman|systemctl|journalctl|chmod|chown|grep|sed|awk|tar|cargo|rustc|gcc|go|python3?|node|psql|mysql|sqlite3|aws|gcloud|az|terraform|ansible|ffmpeg|make|cmake|ls|cd|cat|rm|cp|mv|mkdir|echo|export)\s+(?:[\w-]+\s+){0,3}(?:-{1,2}[A-Za-z][\w-]*|[~./]\S*\/\S*|"[^"]*"|\w+\/\w[\w./:-]*|\S+\s[|>&]{1,2})/,
  /^(?:[\d*/,-]+\s+){4}[\d*/,a-zA-Z-]+\s+\S*\/\S+/,
  /^<(?:!doctype|\/?[a-z][\w-]*(?:\s[^<>]*)?\/?)>.*/i,
  /^[{[]\s*"[^"]*"\s*:/,
  /^"[\w$-]+"\s*:\s*(?:["[{\d-]|true|false|null)/,
  /^\w+(?:\.\w+)*\([^()]*\)(?:\.\w+\([^()]*\))*;$/,
  /^(?:if|for|while|switch)\s?\(.*\)\s?\{?$/,
  /^#!\//,
  /^@@ -\d+,\d+ \+\d+,\d+ @@|^diff --git /,
]

/** YAML, an INI or ssh configuration: an indented block of keys, or lines of `key = value`. A list of items is none. */
function isConfiguration(lines: readonly string[]): boolean {
  const rest = lines.slice(1)
  const indented = rest.filter((line) => /^(?:\s{2,}|\t)(?:- )?[\w."-]+(?::(?:\s|$)|\s+\S+$)/.test(line))
  const isHeaded = /^[\w.-]+:$|^[\w.-]+ [\w.*-]+$|^\[[\w. -]+\]$/.test(lines[0]!.trim())
  if (isHeaded && rest.length > 0 && indented.length === rest.length) return true
  const assigned = lines.filter(
    (line) => /^\s*(?:export )?[\w.-]+\s?=\s?\S*/.test(line) || /^\[[\w. -]+\]$/.test(line.trim()),
  )
  return assigned.length === lines.length
}
