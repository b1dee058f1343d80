import fastCheck, { type IAsyncPropertyWithHooks, type Parameters } from 'fast-check'
import { isWholeRun } from './suite.ts'

/**
 * The seed of property tests, fixed so that every run tests the same: a suite that fails now and then does not point at a
 * change. `npm run bench -- properties` looks further, with seeds of its own.
 */
fastCheck.configureGlobal({
  ...fastCheck.readConfigureGlobal(),
  seed: Number(process.env['AICHAT_TEST_SEED'] ?? 20_260_927),
})

/** The first tier takes one of so many runs, and at least `fewest` where a property asks for more. */
const share = 5
const fewest = 30

/** fast-check, whose `assert` runs a property fewer times in the first tier than `numRuns` says. */
export const fc: typeof fastCheck = {
  ...fastCheck,
  assert(property: IAsyncPropertyWithHooks<unknown>, parameters: Parameters<unknown> = {}) {
    const whole = parameters.numRuns ?? 100
    const numRuns = isWholeRun ? whole : Math.min(whole, Math.max(fewest, Math.ceil(whole / share)))
    return fastCheck.assert(property, { ...parameters, numRuns })
  },
} as typeof fastCheck

export declare namespace fc {
  type Arbitrary<T> = fastCheck.Arbitrary<T>
}

/**
 * Every character but halves of surrogate pairs, plain ones and those beyond 0xFFFF alike. fast-check's `binary` unit of
 * strings is the same and takes more than a second to set up.
 */
export const anyCharacter = fastCheck
  .oneof(
    fastCheck.integer({ min: 0, max: 0xd7ff }),
    fastCheck.integer({ min: 0xe000, max: 0x10_ffff }),
    fastCheck.integer({ min: 0x20, max: 0x7e }),
  )
  .map((code) => String.fromCodePoint(code))
