import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { fitting } from '../../src/mcp-server/rows.ts'
import { type Owner, takeSeat } from '../../src/mcp-server/seat.ts'
import { personaState, stateOf } from '../../src/mcp-server/state.ts'
import { pluck } from '../helpers/pluck.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the state of a persona for MCP clients')

const preference = (value: unknown, confidence: number) => ({ value, confidence, established: true })

test('has the surest hundred preferences first, values other than texts as JSON, and says how many are left out', () => {
  for (const [count, leftOut] of [
    [100, 0],
    [101, 1],
  ] as const) {
    const learned = Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, preference('x', at / 1000)]))
    const { preferences, left_out } = stateOf(ownerOf(learned))
    assert.equal([preferences.length, preferences[0]!.name, left_out], [100, `p${count - 1}`, leftOut])
  }
  const values = {
    text: preference('x'.repeat(501), 0.9),
    list: preference(['a'], 0.8),
    none: preference(undefined, 0.7),
  }
  const state = stateOf(ownerOf(values, 'd'.repeat(4001)))
  assert.equal(pluck(state.preferences, 'value'), ['x'.repeat(500), '["a"]', ''])
  assert.is(state.description, 'd'.repeat(4000))
  assert.equal([state.traits, state.last_change], [[{ name: 'warm', weight: 0.5 }], '1970-01-01T00:00:01.000Z'])
  assert.ok(personaState.safeParse(state).success)
})

test('has no seat where the persona cannot be read', async () => {
  const ask = async () => {
    throw new AppError('io', 'refused')
  }
  await rejects(takeSeat(ask, 'p', { readOnly: true }), 'io', /refused/)
})

function ownerOf(learned_preferences: object, description?: string): Owner {
  const state = { learned_preferences, behavioral_weights: { warm: 0.5 }, last_mutation: 1000 }
  return { name: 'Mia', ...(description !== undefined && { description }), state } as unknown as Owner
}

test('one answer has as many memories as 40,000 characters hold, and at least one', () => {
  const sized = (...sizes: number[]) => fitting(sizes.map((size) => ({ content: 'x'.repeat(size) }))).length
  assert.equal([sized(20_000, 20_000), sized(20_000, 20_001, 1), sized(50_000, 1), sized()], [2, 1, 1, 0])
})

test.run()
