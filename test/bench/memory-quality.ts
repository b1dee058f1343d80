/**
 * The quality of search: whether scores tell answered questions from others, which memories would enter prompts,
 * languages, and changes. The calibration of scores is fitted here too.
 */

import type { Embedder } from '../../src/personas/memory/embedding.ts'
import type { Found, NewMemory } from '../../src/personas/memory/memory.ts'
import { rank } from '../../src/personas/memory/ranking.ts'
import { coefficients, features } from '../../src/personas/memory/ranking-calibration.ts'
import { lexicalSteps } from '../../src/personas/memory/ranking-lexical.ts'
import { type MemoryQuery, readQuery } from '../../src/personas/memory/ranking-query.ts'
import { candidatesFor } from '../../src/personas/memory/timely-search.ts'
import { memorySettingsOf } from '../../src/personas/persona.ts'
import { atOnce } from '../../src/process/process.ts'
import { testData } from '../helpers/data.ts'
import { closing } from '../helpers/disposal.ts'
import { printAims } from './memory-parts/aims.ts'
import { areaOf, areaUnder } from './memory-parts/area.ts'
import { floorAtWork } from './memory-parts/floor-at-work.ts'
import { readTalks } from './memory-parts/locomo-data.ts'
import { type Example, fitLogistic } from './memory-parts/logistic.ts'
import { type Change, type QualitySet, type RelevanceQuery, readQualitySets } from './memory-parts/quality-data.ts'
import {
  availableEmbedders,
  builtinEmbedder,
  embedded,
  keepAll,
  openStores,
  queryVector,
} from './memory-parts/scope.ts'
import { print } from './parts/figures.ts'

/** The memories of a prompt at most, as in `persona-chat`. */
const mostInPrompt = 8
const floor = memorySettingsOf({}).min_score
const dayMs = 86_400_000

type Asked = { readonly query: RelevanceQuery; readonly read: MemoryQuery; readonly found: Found }

type Mode = 'hybrid' | 'words' | 'vectors'

/** A set and what its questions find with the coefficients that were fitted on the other sets. */
type HeldOut = { readonly set: QualitySet; readonly found: readonly Hit[][] }

type Hit = { readonly id: string; readonly score: number }

export async function bench(): Promise<void> {
  const sets = readQualitySets()
  const words = new Map<QualitySet, readonly Asked[]>()
  for (const set of sets) words.set(set, await ask(set, undefined))
  const fitOn = (chosen: readonly QualitySet[]) => fitLogistic(chosen.flatMap((set) => examplesOf(words.get(set)!)))
  print(`Product's coefficients:        ${coefficients.map((value) => value.toFixed(2)).join(' ')}`)
  print(
    `Fitted anew on all sets:       ${fitOn(sets)
      .map((value) => value.toFixed(2))
      .join(' ')}`,
  )
  print(`Floor: ${floor}; at most ${mostInPrompt} memories in a prompt.`)
  const embedders = await availableEmbedders()
  const heldOut: HeldOut[] = []
  for (const set of sets) {
    const others = sets.filter((other) => other !== set)
    const foreign = others.length > 0 ? fitOn(others) : undefined
    print(`\n# ${set.name}: ${set.memories.length} memories, ${set.queries.length} queries`)
    report('words only', set, hits(words.get(set)!, 'words'))
    for (const { name, embedder } of embedders) {
      const asked = await ask(set, embedder)
      report(`vectors only: ${name}`, set, hits(asked, 'vectors', embedder))
      report(`hybrid: ${name}, product's coefficients`, set, hits(asked, 'hybrid', embedder))
      if (foreign)
        report(`hybrid: ${name}, coefficients fitted on the other sets`, set, hits(asked, 'hybrid', embedder, foreign))
    }
    const { embedder } = embedders[0] ?? {}
    heldOut.push({ set, found: hits(await ask(set, embedder), 'hybrid', embedder, foreign) })
    await oneLanguage(set, embedder)
    await changes(set, embedder)
    await large(set, embedder, foreign)
    if (set.name.startsWith('test data')) await atWork(set, embedder)
  }
  if (sets.length > 1) reportHeldOut(heldOut)
}

/** The table of aims: each set with the coefficients that were fitted on the others. */
function reportHeldOut(heldOut: readonly HeldOut[]): void {
  const perSet = (figure: (one: HeldOut) => string) => heldOut.map((one) => `${one.set.name} ${figure(one)}`).join(', ')
  const best = ({ set, found }: HeldOut, answerable: boolean) =>
    set.queries.flatMap((query, at) => (query.answerable === answerable ? [found[at]![0]?.score ?? 0] : []))
  const areas = heldOut.map((one) => areaOf(best(one, true), best(one, false)))
  const mean = areas.reduce((sum, area) => sum + area, 0) / areas.length
  printAims([
    {
      what: 'AUC on sets never fitted',
      figure: `mean ${mean.toFixed(3)}: ${perSet((one) => areas[heldOut.indexOf(one)]!.toFixed(3))}`,
      aim: '≥ .90',
    },
    {
      what: `prompt at ${floor}, on sets never fitted`,
      figure: perSet(({ set, found }) => promptAt(set.queries, found, floor)),
      aim: 'silent ≥ 92 %',
    },
    {
      what: `questions without a shared word that get their memory at ${floor}`,
      figure: perSet(({ set, found }) => {
        const isEntered = ({ right }: RelevanceQuery, at: number) =>
          found[at]!.slice(0, mostInPrompt).some(({ id, score }) => score >= floor && right.includes(id))
        const asked = set.queries.filter(({ no_shared_word }) => no_shared_word)
        const entered = set.queries.filter((query, at) => query.no_shared_word && isEntered(query, at))
        return `${entered.length} of ${asked.length}`
      }),
      aim: 'by cost: one wrong memory counts as two missed',
    },
  ])
}

/** The floor in a daemon and in `chat --dry-run`, with the product's coefficients and the time of this machine. */
async function atWork(set: QualitySet, embedder: Embedder | undefined): Promise<void> {
  const now = Date.now()
  const rankings = hits(await ask(set, embedder, [], now), 'hybrid', embedder, undefined, now)
  print(`\nthe floor at work (${floor}), today as the time of the questions`)
  for (const line of await floorAtWork(set, rankings, floor)) print(`  ${line}`)
}

/** Stores the memories, with others if given, and asks every query. */
async function ask(
  set: Pick<QualitySet, 'memories' | 'queries'>,
  embedder: Embedder | undefined,
  others: readonly NewMemory[] = [],
  today?: number,
): Promise<Asked[]> {
  await using stores = closing(await openStores())
  const scope = await stores.scope()
  const memories = [...set.memories.map(memoryOf), ...others]
  await stores.memories.add(scope, embedder ? await embedded(embedder, memories) : memories, keepAll)
  const { rarity } = builtinEmbedder()
  const now = today ?? Math.max(0, ...memories.map(({ timestamp }) => timestamp)) + dayMs
  const asked: Asked[] = []
  for (const query of set.queries) {
    const read = readQuery(query.query, rarity, now)
    const vector = embedder && (await queryVector(embedder, query.query))
    const found = await candidatesFor(stores.memories, scope, read, { candidates: 120, ...(vector && { vector }) })
    asked.push({ query, read, found })
  }
  return asked
}

function memoryOf({ id, content, timestamp }: { id: string; content: string; timestamp: number }): NewMemory {
  return { id, content, timestamp, importance_score: 0.5, metadata: { source: 'chat' } }
}

function hits(
  asked: readonly Asked[],
  mode: Mode,
  embedder?: Embedder,
  chosen?: readonly number[],
  today?: number,
): Hit[][] {
  return asked.map(({ read, found }) => {
    const now = today ?? Math.max(0, ...found.candidates.map(({ entry }) => entry.timestamp)) + dayMs
    const query = mode === 'vectors' ? { ...read, terms: [], pairs: [] } : read
    const knowsLanguage = embedder?.languages?.includes(read.language) ?? true
    // Alone, vectors are measured in every language.
    const vectors = embedder && { trust: embedder.trust, knowsLanguage: mode === 'vectors' || knowsLanguage }
    const ranked = rank(found, {
      query,
      vectors: mode === 'words' ? undefined : vectors,
      now,
      ...(chosen && { coefficients: chosen }),
    })
    return ranked.map(({ candidate, score }) => ({ id: candidate.entry.id, score }))
  })
}

/** The best matches of each query, positive where the memory answers it. */
function examplesOf(asked: readonly Asked[]): Example[] {
  return asked.flatMap(({ query, read, found }) => {
    const evidence = atOnce(lexicalSteps(found, read))
    return evidence
      .map((each, at) => ({ each, id: found.candidates[at]!.entry.id }))
      .filter(({ each }) => each.match > 0)
      .sort((a, b) => b.each.match - a.each.match)
      .slice(0, 8)
      .map(({ each, id }): Example => [features(each), query.right.includes(id)])
  })
}

function report(label: string, { queries }: Pick<QualitySet, 'queries'>, found: readonly Hit[][]): void {
  const best = (chosen: (query: RelevanceQuery) => boolean) =>
    queries.flatMap((query, at) => (chosen(query) ? [found[at]![0]?.score ?? 0] : []))
  const stranger = best(({ answerable }) => !answerable)
  const all = best(({ answerable }) => answerable)
  const reachable = best((query) => query.answerable && isReachable(query))
  print(`\n${label}`)
  print(`  AUC all ${areaUnder(all, stranger)}, reachable by words ${areaUnder(reachable, stranger)}`)
  print(
    `  prompt at ${floor}: ${promptAt(queries, found, floor)}; best precision at recall ≥ 60 %: ${bestPrecision(queries, found)}`,
  )
  const groups: readonly (readonly [string, (query: RelevanceQuery) => boolean])[] = [
    ['English', (query) => query.language === 'en' && isReachable(query)],
    ['others', (query) => query.language !== 'en' && isReachable(query)],
    ['others with cross-lingual', (query) => query.language !== 'en'],
    ['no shared word', ({ no_shared_word }) => no_shared_word === true],
    ['cross-lingual', ({ cross_lingual }) => cross_lingual === true],
  ]
  const cells = groups.map(([name, isIn]) => {
    const places = queries.flatMap((query, at) =>
      query.answerable && isIn(query) ? [found[at]!.findIndex(({ id }) => query.right.includes(id))] : [],
    )
    const within = (k: number) => places.filter((place) => place >= 0 && place < k).length
    return `${name} ${within(1)}/${within(3)} of ${places.length}`
  })
  print(`  top 1/3: ${cells.join(', ')}`)
}

function isReachable({ no_shared_word, cross_lingual }: RelevanceQuery): boolean {
  return no_shared_word !== true && cross_lingual !== true
}

function promptsAt(queries: readonly RelevanceQuery[], found: readonly Hit[][], least: number) {
  let entered = 0
  let right = 0
  let recall = 0
  let silent = 0
  queries.forEach((query, at) => {
    const prompt = found[at]!.filter(({ score }) => score >= least).slice(0, mostInPrompt)
    const helping = prompt.filter(({ id }) => query.right.includes(id)).length
    entered += prompt.length
    right += helping
    if (query.answerable) recall += helping / query.right.length
    else if (prompt.length === 0) silent++
  })
  const answerable = queries.filter((query) => query.answerable).length
  const strangers = queries.length - answerable
  return { precision: right / Math.max(1, entered), recall: recall / answerable, silent, strangers }
}

function promptAt(queries: readonly RelevanceQuery[], found: readonly Hit[][], least: number): string {
  const { precision, recall, silent, strangers } = promptsAt(queries, found, least)
  return `precision ${percent(precision)}, recall ${percent(recall)}, silent ${silent} of ${strangers} (${percent(silent / strangers)})`
}

function bestPrecision(queries: readonly RelevanceQuery[], found: readonly Hit[][]): string {
  let best = { precision: 0, least: 0 }
  for (let least = 0.02; least < 0.9; least += 0.01) {
    const { precision, recall } = promptsAt(queries, found, least)
    if (recall >= 0.6 && precision > best.precision) best = { precision, least }
  }
  return best.precision > 0 ? `${percent(best.precision)} at floor ${best.least.toFixed(2)}` : 'never reached'
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

/** Each language's memories as a scope of their own. */
async function oneLanguage(set: QualitySet, embedder: Embedder | undefined): Promise<void> {
  const languages = [...new Set(set.memories.map(({ language }) => language))].filter((language) => language !== 'en')
  let [first, third, total] = [0, 0, 0]
  for (const language of languages) {
    const memories = set.memories.filter((memory) => memory.language === language)
    const ids = new Set(memories.map(({ id }) => id))
    const queries = set.queries.filter(
      (query) =>
        query.language === language && query.answerable && isReachable(query) && query.right.some((id) => ids.has(id)),
    )
    const found = hits(await ask({ memories, queries }, embedder), 'hybrid', embedder)
    queries.forEach(({ right }, at) => {
      const place = found[at]!.findIndex(({ id }) => right.includes(id))
      total++
      if (place === 0) first++
      if (place >= 0 && place < 3) third++
    })
  }
  print(`\none language as a scope: top 1/3: ${first}/${third} of ${total}`)
}

/** Pairs of an older and a newer statement, among the memories that state no fact. */
async function changes(set: QualitySet, embedder: Embedder | undefined): Promise<void> {
  if (set.pairs.length === 0) return
  const first = async (list: readonly Change[], wanted: 'newer' | 'older') => {
    const others = set.memories.filter(({ kind }) => kind !== 'fact').map(memoryOf)
    const both = list.flatMap(({ id, older, newer }) => [
      memoryOf({ id: `${id} older`, ...older }),
      memoryOf({ id: `${id} newer`, ...newer }),
    ])
    const queries = list.map(({ id, query, language }) => ({ id, query, language, answerable: true, right: [] }))
    const found = hits(await ask({ memories: [], queries }, embedder, [...others, ...both]), 'hybrid', embedder)
    return list.filter(({ id }, at) => found[at]![0]?.id === `${id} ${wanted}`).length
  }
  const [newer, older] = [await first(set.pairs, 'newer'), await first(set.controls, 'older')]
  print(`newer first: ${newer} of ${set.pairs.length}; controls: ${older} of ${set.controls.length}`)
}

/** The same questions in a scope of 2,500 memories, filled with turns of other people's conversations. */
async function large(
  set: QualitySet,
  embedder: Embedder | undefined,
  foreign: readonly number[] | undefined,
): Promise<void> {
  const folder = testData('memory', 'locomo')
  if (!folder) return print('2,500 memories: skipped, no memory/locomo in AICHAT_TEST_DATA')
  const turns = readTalks(folder).flatMap(({ name, turns }) =>
    turns.map(({ id, text, timestamp }) => memoryOf({ id: `${name} ${id}`, content: text, timestamp })),
  )
  const asked = await ask(set, embedder, turns.slice(0, 2_500 - set.memories.length))
  report('hybrid among 2,500 memories', set, hits(asked, 'hybrid', embedder, foreign))
}
