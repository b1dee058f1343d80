import type { AdaptationRecord } from '../adaptation/log.ts'
import { algorithm, type Sensitivity, stepRules } from '../adaptation/rules.ts'
import type { Inputs, Signal } from '../adaptation/state.ts'
import { type Fields, isFields } from '../fields.ts'
import { packageLimits } from './format.ts'

/** Validates fields of untrusted packages. By hand: `aichat persona verify` checks tens of thousands of records. */

/** The largest time that a date can hold (ECMA-262, 21.4.1.1), in milliseconds. */
const latest = 8.64e15

/** Problems of a persona. Optional fields may be null, as some languages write absent ones. */
export function personaProblems(persona: Fields): readonly string[] {
  return [
    ...unless(isText(persona['name'], 200), 'name must be a text of 1 to 200 characters'),
    ...unless(isText(persona['model'], 300), 'model must be a text of 1 to 300 characters'),
    ...['description', 'system_prompt', 'nickname', 'post_history_instructions'].flatMap((name) =>
      unless(isAbsentOr(persona[name] ?? undefined, isLongText), `${name} must be a text`),
    ),
    ...['parameters', 'memory_settings', 'mutation_settings'].flatMap((name) =>
      unless(isAbsentOr(persona[name] ?? undefined, isFields), `${name} must be an object`),
    ),
    ...unless(
      isAbsentOr(persona['embedding_model'] ?? undefined, (model) => isText(model, 300)),
      'embedding_model must be a text of 1 to 300 characters',
    ),
  ]
}

/** Problems of `export_metadata`, beside its version and sums. */
export function metadataProblems(metadata: Fields): readonly string[] {
  return [
    ...unless(isAbsentOr(metadata['exported_at'], isTime), 'exported_at must be a time in milliseconds'),
    ...unless(isAbsentOr(metadata['user_id'], isLongText), 'user_id must be a text'),
  ]
}

/** Problems of a state. */
export function stateProblems(state: Fields): readonly string[] {
  const { behavioral_weights: weights, learned_preferences: preferences } = state
  return [
    ...unless(
      isFields(weights) && Object.values(weights).every(Number.isFinite),
      'behavioral_weights must hold numbers',
    ),
    ...unless(isFields(preferences), 'learned_preferences must be an object'),
    ...unless(isNumber(state['adaptation_level'], 0, Number.MAX_VALUE), 'adaptation_level must be a number from 0'),
    ...unless(isTime(state['last_mutation']), 'last_mutation must be a time in milliseconds'),
  ]
}

/** Problems of a memory. */
export function memoryProblems(memory: Fields): readonly string[] {
  return [
    ...unless(isText(memory['id'], 200), 'id must be a text of 1 to 200 characters'),
    ...unless(
      isText(memory['content'], packageLimits.content),
      `content must be a text of 1 to ${packageLimits.content} characters`,
    ),
    ...unless(isTime(memory['timestamp']), 'timestamp must be a time in milliseconds'),
    ...unless(isNumber(memory['importance_score'], 0, 1), 'importance_score must be from 0 to 1'),
    ...unless(isAbsentOr(memory['metadata'] ?? undefined, isFields), 'metadata must be an object'),
    ...unless(
      isAbsentOr(memory['embedding_space'], (space) => space === '' || isText(space, 500)),
      'embedding_space must be a text of at most 500 characters',
    ),
    ...labelProblems(memory),
  ]
}

/** Bounds the metadata and unknown fields of a memory, which are read with every memory. */
function labelProblems({ content: _content, metadata = {}, ...others }: Fields): readonly string[] {
  return [
    ...unless(
      JSON.stringify(metadata).length <= packageLimits.labels,
      `metadata must not be longer than ${packageLimits.labels} characters as JSON`,
    ),
    ...unless(
      JSON.stringify(others).length <= packageLimits.labels,
      `fields that are unknown here must not be longer than ${packageLimits.labels} characters as JSON`,
    ),
  ]
}

/** Problems of a record of the log. One that names our algorithm must be replayable. */
export function recordProblems(record: Fields): readonly string[] {
  return [
    ...['id', 'adaptation_type', 'trigger_event'].flatMap((name) =>
      unless(isText(record[name], 200), `${name} must be a text of 1 to 200 characters`),
    ),
    ...unless(isTime(record['timestamp']), 'timestamp must be a time in milliseconds'),
    ...unless(record['changes'] !== undefined, 'changes are missing'),
    ...unless(isAbsentOr(record['idempotency_key'], isId), 'idempotency_key must be a text of 1 to 200 characters'),
    ...(record['algorithm'] === algorithm ? replayProblems(record) : []),
  ]
}

/** Whether a valid record has a place in a chain, as records of aichat have. */
export function isChained(record: Fields): record is Fields & AdaptationRecord {
  return typeof record['hash'] === 'string'
}

function replayProblems(record: Fields): readonly string[] {
  return [
    ...unless(isInputs(record['inputs']), 'inputs cannot be replayed'),
    ...unless(
      [undefined, 'applied', 'proposed'].includes(record['status'] as undefined),
      'status must be applied or proposed',
    ),
    ...unless(
      [undefined, 'user', 'chat', 'system'].includes(record['actor'] as undefined),
      'actor must be user, chat or system',
    ),
    ...unless(isChained(record), 'hash is missing'),
  ]
}

function isInputs(inputs: unknown): inputs is Inputs {
  if (!isFields(inputs)) return false
  switch (inputs['kind']) {
    case 'signals':
      return (
        isSensitivity(inputs['sensitivity']) &&
        isList(inputs['signals'], isSignal) &&
        isAbsentOr(inputs['accepts'], isId)
      )
    case 'pin':
      return isList(inputs['traits'], isName) && typeof inputs['pinned'] === 'boolean'
    case 'reset':
      return isList(inputs['traits'], isName) && isList(inputs['preferences'], isName)
    case 'undo':
    case 'decline':
      return isId(inputs['target'])
    case 'settings':
      return typeof inputs['enabled'] === 'boolean' && isSensitivity(inputs['sensitivity'])
    case 'snapshot':
      return (
        isFields(inputs['weights']) &&
        Object.values(inputs['weights']).every(Number.isFinite) &&
        isFields(inputs['preferences'])
      )
    case 'note':
      return isFields(inputs['about'])
    default:
      return inputs['kind'] === 'decay'
  }
}

function isSignal(signal: unknown): signal is Signal {
  if (!isFields(signal)) return false
  if ('trait' in signal) return isName(signal['trait']) && isNumber(signal['target'], -1, 1)
  if (!isName(signal['preference'])) return false
  return 'value' in signal ? isValue(signal['value']) : signal['weaken'] === true || signal['remove'] === true
}

/** Whether a preference may have this value, as in a request: short, since it stands in prompts. */
export function isValue(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= 2000
}

/** Whether a trait or preference may have this name, as in a request. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[\p{L}\p{N}][\p{L}\p{N} _.\-/]{0,63}$/u.test(name)
}

function isSensitivity(value: unknown): value is Sensitivity {
  return typeof value === 'string' && Object.hasOwn(stepRules, value)
}

function isList<T>(list: unknown, isItem: (item: unknown) => item is T): list is readonly T[] {
  return Array.isArray(list) && list.length <= 500 && list.every(isItem)
}

function isId(value: unknown): value is string {
  return isText(value, 200)
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= most
}

function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 100_000
}

function isTime(value: unknown): value is number {
  return Number.isInteger(value) && isNumber(value, 0, latest)
}

function isNumber(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && value >= least && value <= most
}

function isAbsentOr(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value === undefined || isRight(value)
}

function unless(condition: boolean, problem: string): readonly string[] {
  return condition ? [] : [problem]
}
