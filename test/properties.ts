import fc from 'fast-check'

/**
 * The seed of property tests, fixed so that every run tests the same: a suite that fails now and then does not point at a
 * change. `npm run bench -- properties` looks further, with seeds of its own.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['AICHAT_TEST_SEED'] ?? 20_260_927) })

export { fc }
