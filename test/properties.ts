import fc from 'fast-check'

/**
 * What property tests begin with, so that a run finds the same as the run before it: a suite that fails now and then tells
 * nobody what broke. `npm run bench -- properties` looks further, with seeds of its own.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['AICHAT_TEST_SEED'] ?? 20_260_927) })

export { fc }
