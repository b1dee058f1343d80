import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { heavyTurn } from '../../src/process/heavy-turns.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('heavy stages')

test('each has a turn of the event loop that no other has, in the order asked, and others are served in between', async () => {
  const seen: string[] = []
  let isOver = false
  const others = () => {
    seen.push('others')
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  await Promise.all(['a', 'b', 'c'].map((name) => heavyTurn().then(() => void seen.push(name))))
  isOver = true
  const stages = seen.filter((each) => each !== 'others')
  assert.equal(stages, ['a', 'b', 'c'])
  for (const [one, next] of [
    ['a', 'b'],
    ['b', 'c'],
  ] as const)
    assert.ok(seen.slice(seen.indexOf(one), seen.indexOf(next)).includes('others'), seen.join())
})

test('the users who wait take turns: ten requests of one delay the only one of another by one stage at a time', async () => {
  const seen: string[] = []
  const request = async (user: string | undefined, stages: number) => {
    for (let stage = 0; stage < stages; stage++) {
      await heavyTurn({ user })
      seen.push(user ?? '-')
    }
  }
  const many = Array.from({ length: 10 }, () => request('ada', 3))
  await Promise.all([...many, request('ben', 3), request(undefined, 2)])
  assert.equal([seen.length, seen.slice(0, 9).join(' ')], [35, 'ada ben - ada ben - ada ben ada'])
})

test('one that nobody waits for is not begun, and those behind it are', async () => {
  let isOver = false
  const first = heavyTurn()
  const gone = heavyTurn({ isOver: () => isOver })
  const last = heavyTurn({ isOver: () => false })
  isOver = true
  await first
  const reason = await gone.catch((thrown: unknown) => thrown)
  assert.instance(reason, AppError)
  assert.is((reason as AppError).code, 'unavailable')
  await last
})

test.run()
