import * as assert from 'uvu/assert'
import { createFourierTransform } from '../../../speech/audio/fourier.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the Fourier transform')

for (const size of [1, 2, 4, 8, 16, 32, 64])
  test(`of ${size} values is the sum that defines it`, () => {
    const real = Float64Array.from({ length: size }, (_, at) => Math.sin(at * at + 1))
    const imaginary = Float64Array.from({ length: size }, (_, at) => Math.cos(3 * at * at))
    const expected = Array.from({ length: size }, (_, k) => {
      let [re, im] = [0, 0]
      for (let n = 0; n < size; n++) {
        const angle = (-2 * Math.PI * k * n) / size
        re += real[n]! * Math.cos(angle) - imaginary[n]! * Math.sin(angle)
        im += real[n]! * Math.sin(angle) + imaginary[n]! * Math.cos(angle)
      }
      return [re, im] as const
    })
    createFourierTransform(size).transform(real, imaginary)
    for (const [k, [re, im]] of expected.entries())
      assert.ok(Math.abs(real[k]! - re) < 1e-9 && Math.abs(imaginary[k]! - im) < 1e-9, `at ${k}`)
  })

test.run()
