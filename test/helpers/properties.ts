import fc from 'fast-check'

/**
 * The seed of property tests, fixed so that every run tests the same: a suite that fails now and then does not point at a
 * change. `npm run bench -- properties` looks further, with seeds of its own.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['AICHAT_TEST_SEED'] ?? 20_260_927) })

/**
 * Every character but halves of surrogate pairs, plain ones and those beyond 0xFFFF alike. fast-check's `binary` unit of
 * strings is the same and takes more than a second to set up.
 */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
    fc.integer({ min: 0x20, max: 0x7e }),
  )
  .map((code) => String.fromCodePoint(code))

export { fc }
