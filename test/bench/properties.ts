import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../', import.meta.url))
const rounds = Number(process.env['AICHAT_ROUNDS'] ?? 5)

/**
 * The property tests of the suite with seeds of their own: `AICHAT_ROUNDS` rounds (5), or the one of `AICHAT_TEST_SEED`.
 * A test that fails is printed with its counterexample and with the seed under which `npm test` fails in the same way.
 */
export async function bench(): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /\.test\.[jt]s$/.test(file) && /from '[./]*properties\.[jt]s'/.test(readFileSync(`${folder}${file}`, 'utf8')),
  )
  const given = process.env['AICHAT_TEST_SEED']
  const seeds = given === undefined ? Array.from({ length: rounds }, () => randomInt(2 ** 31)) : [Number(given)]
  for (const seed of seeds) {
    const env = { ...process.env, AICHAT_TEST_SEED: String(seed), AICHAT_TEST_LIMIT_MS: '900000' }
    const runner = fileURLToPath(new URL(`../run.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))
    const loader = runner.endsWith('.ts') ? ['--import', 'tsx'] : []
    const { stdout, status } = spawnSync(process.execPath, [...loader, runner, ...files], {
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    const verdict = stdout.trimEnd().split('\n').at(-1)
    process.stdout.write(`seed ${seed}: ${verdict}\n`)
    if (status === 0) continue
    process.stdout.write(`${stdout}Again: AICHAT_TEST_SEED=${seed} npm test -- WORD\n`)
    process.exitCode = 1
  }
}
