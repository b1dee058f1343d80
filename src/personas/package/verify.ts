import { timingSafeEqual } from 'node:crypto'
import { canonicalize, damaged, FileError } from '../../formats/formats.ts'
import { chainCheck, isOwnLog } from '../adaptation/log.ts'
import { fold } from '../adaptation/replay.ts'
import { type Event, viewLearned } from '../adaptation/state.ts'
import { type Fields, isFields } from '../fields.ts'
import { ContentHash } from './digest.ts'
import { type PackageHead, type PackageMemory, versionProblem } from './format.ts'
import { namedDifferences } from './metadata.ts'
import type { VerifyResult } from './outcomes.ts'
import {
  isChained,
  memoryProblems,
  metadataProblems,
  personaProblems,
  recordProblems,
  stateProblems,
} from './records.ts'
import type { Integrity, PackageSource, Visitor } from './source.ts'

/** Invalid records after which a walk stops. */
const mostWrong = 1000

/** The most problems in a result. */
const mostProblems = 50

/**
 * Receives each record that can be parsed, valid or not; `count` is the number of memories up to and with this one.
 */
export interface RecordObserver {
  memory(memory: PackageMemory, count: number): void
  record(record: Fields): void
}

/** Reads a whole package in flat memory and verifies it; problems of the package never throw. */
export function verifySource(source: PackageSource, observer?: RecordObserver): VerifyResult {
  const findings = new Findings()
  const { head } = source
  const version = typeof head.metadata['version'] === 'string' ? head.metadata['version'] : null
  const wrongVersion = versionProblem(head.metadata)
  if (wrongVersion) findings.add(wrongVersion.message, wrongVersion.kind)
  for (const problem of personaProblems(head.persona)) findings.add(`persona: ${problem}`)
  for (const problem of stateProblems(head.state)) findings.add(`state: ${problem}`)
  for (const problem of metadataProblems(head.metadata)) findings.add(`export_metadata: ${problem}`)
  const inspection = new Inspection(findings, observer)
  let integrity: Integrity | undefined
  try {
    integrity = source.walk(inspection)
  } catch (reason) {
    findings.catch(reason)
  }
  if (integrity) checkIntegrity(integrity, inspection, head, findings)
  return {
    valid: findings.problems.length === 0,
    expected: integrity?.expected ?? null,
    actual: integrity?.actual ?? null,
    version,
    problems: findings.list(),
    kind: findings.kind,
    form: source.form,
    content_hash: integrity ? inspection.hash.digest(head) : null,
    memories: inspection.memories.length,
    adaptations: inspection.records.length,
  }
}

/** The result for a package that cannot be opened. Rethrows failures of this machine. */
export function failedVerification(reason: unknown): VerifyResult {
  const findings = new Findings()
  findings.catch(reason)
  const nothing = {
    expected: null,
    actual: null,
    version: null,
    form: null,
    content_hash: null,
    memories: 0,
    adaptations: 0,
  }
  return { valid: false, problems: findings.list(), kind: findings.kind, ...nothing }
}

function checkIntegrity(integrity: Integrity, inspection: Inspection, head: PackageHead, findings: Findings): void {
  for (const name of integrity.broken) findings.add(`${name} differs from the manifest`)
  if (integrity.expected === undefined)
    findings.add('export_metadata.checksum is missing: changes of this package cannot be detected')
  else if (!isSame(integrity.expected, integrity.actual))
    findings.add('The checksum does not match: the package was changed after it was exported')
  for (const problem of namedDifferences(head, inspection)) findings.add(problem)
  const { content_hash: content, record_digests: digests } = head.metadata
  // Other programs may hash other fields: the hash is checked only beside digests of aichat.
  if (typeof content === 'string' && isFields(digests) && !isSame(content, inspection.hash.digest(head)))
    findings.add('export_metadata.content_hash does not match the contents')
  inspection.checkLog(head)
}

/** Compares hex digests of either case in constant time. */
function isSame(expected: string, actual: string): boolean {
  const [left, right] = [Buffer.from(expected.toLowerCase()), Buffer.from(actual)]
  return left.length === right.length && timingSafeEqual(left, right)
}

class Findings {
  readonly problems: string[] = []
  kind: FileError['kind'] | null = null

  add(problem: string, kind: FileError['kind'] = 'damaged'): void {
    // An unsupported package cannot be called damaged.
    if (this.kind !== 'unsupported') this.kind = kind
    this.problems.push(problem)
  }

  catch(reason: unknown): void {
    if (!(reason instanceof Error)) throw reason
    const { code } = reason as { code?: unknown }
    if (reason instanceof FileError) this.add(reason.message, reason.kind)
    else if (code === 'invalid') this.add(reason.message)
    else throw reason
  }

  list(): readonly string[] {
    return shortened(this.problems)
  }
}

/** Each problem once, `mostProblems` at most. */
export function shortened(problems: readonly string[]): readonly string[] {
  const unique = [...new Set(problems)]
  return unique.length > mostProblems
    ? [...unique.slice(0, mostProblems), `and ${unique.length - mostProblems} more`]
    : unique
}

/** Checks each record in turn, and keeps the digests and the log for the checks at the end. */
class Inspection implements Visitor {
  readonly hash = new ContentHash()
  readonly memories: string[] = []
  readonly records: string[] = []
  isWhole = true
  readonly #findings: Findings
  readonly #observer: RecordObserver | undefined
  readonly #ids = new Set<string>()
  readonly #chain = chainCheck()
  readonly #events: Event[] = []
  #chained = 0
  #sound = true
  #wrong = 0

  constructor(findings: Findings, observer: RecordObserver | undefined) {
    this.#findings = findings
    this.#observer = observer
  }

  memory(memory: PackageMemory, index: number): void {
    this.#check('memories', index, memory.fields, memoryProblems(memory.fields))
    this.memories[index] = this.hash.memory(memory)
    this.#observer?.memory(memory, index + 1)
  }

  record(record: Fields, index: number): void {
    const problems = recordProblems(record)
    this.#check('adaptation_log', index, record, problems)
    this.records[index] = this.hash.record(record)
    this.#observer?.record(record)
    if (problems.length > 0) this.#sound = false
    if (!isChained(record)) return
    this.#chained++
    const broken = this.#chain.check(record)
    if (broken) this.#findings.add(`adaptation_log[${index}] (${record.id}) ${broken}`)
    const { changes: _changes, ...event } = record
    this.#events.push(event as Event)
  }

  unreadable(list: 'memories' | 'adaptation_log', index: number, reason: unknown): void {
    const digests = list === 'memories' ? this.memories : this.records
    digests[index] = ''
    this.#sound = false
    this.#countWrong()
    this.#findings.add(`${list}[${index}] cannot be read: ${reason instanceof Error ? reason.message : reason}`)
  }

  broken(name: string, reason: unknown): void {
    this.isWhole = false
    this.#findings.add(`${name}: ${reason instanceof Error ? reason.message : reason}`)
  }

  /** A log of aichat must be one chain, and the state must be the one that it gives. */
  checkLog(head: PackageHead): void {
    if (this.#chained > 0 && this.#chained < this.records.length)
      this.#findings.add('adaptation_log is a chain for some records only')
    const isChain = this.#chained > 0 && this.#chained === this.records.length
    if (!this.#sound || !isChain || !isOwnLog(this.#events)) return
    const view = viewLearned(fold(this.#events))
    for (const [name, value] of Object.entries(view))
      if (canonicalize(value) !== canonicalize(head.state[name] ?? null))
        this.#findings.add(`state.${name} differs from the state that the log gives`)
  }

  #countWrong(): void {
    if (++this.#wrong > mostWrong)
      throw damaged(`More than ${mostWrong} records are wrong: the others were not looked at`)
  }

  #check(list: string, index: number, fields: Fields, problems: readonly string[]): void {
    const id = typeof fields['id'] === 'string' ? ` (${fields['id'].slice(0, 60)})` : ''
    const say = (problem: string) => this.#findings.add(`${list}[${index}]${id}: ${problem}`)
    problems.forEach(say)
    if (problems.length > 0) this.#countWrong()
    for (const name of ['id', 'idempotency_key']) {
      if (fields[name] === undefined) continue
      const key = `${list} ${name} ${fields[name]}`
      if (this.#ids.has(key)) say(`another one has the same ${name}`)
      this.#ids.add(key)
    }
  }
}
