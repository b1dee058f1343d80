/**
 * Injects faults into a daemon, and after each compares its acknowledged writes with its data: `npm run chaos -- ROUNDS
 * [SEED] [FAULT]`. Loopback only, in a folder of its own; exit 1 when a promise was not kept.
 */

import { loadavg } from 'node:os'
import { mulberry32, print } from '../bench/parts/figures.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import { faults } from './faults.ts'
import { openWorld, validate, type World } from './world.ts'

const [rounds = 10, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2, 4).map(Number)
const only = process.argv[4]

if (!(rounds >= 1 && rounds <= 100_000) || !Number.isInteger(seed)) {
  process.stderr.write('Say the rounds, from 1 to 100000: npm run chaos -- 100\n')
  process.exitCode = 64
} else await chaos()

async function chaos(): Promise<void> {
  print(`chaos of ${rounds} rounds with seed ${seed}; load ${loadavg()[0]!.toFixed(1)}`)
  const random = mulberry32(seed)
  const world = openWorld()
  const began = performance.now()
  const counts = new Map<string, number>()
  try {
    const chosen = faults.filter(({ name }) => only === undefined || name.startsWith(only))
    for (const { name, missing } of chosen) if (missing?.(world)) print(`left out: ${name}, since ${missing(world)}`)
    const possible = chosen.filter(({ missing }) => missing?.(world) === undefined)
    let daemon = await world.start()
    const { body } = await daemon.call('POST', '/api/auth/register', {
      body: { username: 'ada', password: goodPassword },
    })
    world.admin = body.token
    world.acknowledged.users.add(body.user.id)
    for (let round = 1; round <= rounds; round++) {
      const fault = possible[Math.floor(random() * possible.length)]!
      counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
      const before = world.broken.length
      daemon = await fault.run(world, daemon, random, round)
      await validate(world, daemon)
      const state =
        world.broken.length === before ? 'kept' : `BROKEN: ${world.broken.slice(before, before + 3).join('; ')}`
      print(`${String(round).padStart(5)} ${fault.name.padEnd(22)} ${sizes(world)}  ${state}`)
    }
    if ((await daemon.stop()) !== 0) world.broken.push('the daemon did not end with 0 on SIGTERM')
  } catch (reason) {
    world.broken.push(`the run itself broke: ${(reason as Error).stack}`)
  } finally {
    world.close()
  }
  print(
    `\n${[...counts].map(([name, count]) => `${name}: ${count}`).join(', ')}; ${Math.round((performance.now() - began) / 1000)} s`,
  )
  for (const [answer, count] of [...world.answers].sort()) print(`  ${String(count).padStart(7)} ${answer}`)
  const broken = [...new Set(world.broken)]
  print(broken.length === 0 ? 'PASSED' : `FAILED with seed ${seed}\n  ${broken.slice(0, 40).join('\n  ')}`)
  if (broken.length > 0) process.exitCode = 1
}

function sizes({ acknowledged }: World): string {
  const memories = [...acknowledged.memories.values()].reduce((sum, { size }) => sum + size, 0)
  return `${acknowledged.users.size} users, ${memories} memories, ${acknowledged.tokens.size} logins`
}
