import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openProgram } from '../../../../speech/engines/flite/wasi.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('a program in memory')

test('every run finds the memory as the first one did', async () => {
  await using program = closing(await openProgram(fileOf(counter())))
  for (let time = 0; time < 3; time++) assert.equal([program.run([]).output, program.run([]).exitCode], ['10', 0])
})

test('a run that leaves from within is followed by one as good as the first', async () => {
  await using program = closing(await openProgram(fileOf(counter([...constant(3), ...call(1)]))))
  for (let time = 0; time < 3; time++) assert.equal([program.run([]).output, program.run([]).exitCode], ['10', 3])
})

test('a trap is thrown, and the next run is as good as the first', async () => {
  const trap = [0x00]
  await using program = closing(await openProgram(fileOf(counter(trap))))
  for (let time = 0; time < 2; time++) assert.throws(() => program.run([]), /unreachable/)
})

test('a file that is no module is refused', async () => {
  for (const damaged of [Uint8Array.of(), Uint8Array.of(1, 2, 3), counter().subarray(0, 60)])
    await openProgram(fileOf(damaged)).then(
      () => assert.unreachable(),
      () => {},
    )
})

function fileOf(bytes: Uint8Array): string {
  const path = join(temporaryFolder(), 'program.wasm')
  writeFileSync(path, bytes)
  return path
}

/**
 * A module by the WebAssembly core specification: it adds one to a digit of its data and one to a byte of its heap, and
 * writes both as they then and before were: `10` in a fresh memory. Then comes `end`.
 */
function counter(end: readonly number[] = []): Uint8Array {
  const [digit, vector, heap] = [16, 32, 4096]
  const body = [
    ...[...constant(digit), ...constant(digit), ...load, ...constant(1), add, ...store],
    ...[...constant(digit + 1), ...constant(heap), ...load, ...constant('0'.charCodeAt(0)), add, ...store],
    ...[...constant(heap), ...constant(heap), ...load, ...constant(1), add, ...store],
    ...[...constant(1), ...constant(vector), ...constant(1), ...constant(vector + 8), ...call(0), drop],
    ...end,
  ]
  const i32 = 0x7f
  const types = [
    [0x60, 4, i32, i32, i32, i32, 1, i32],
    [0x60, 1, i32, 0],
    [0x60, 0, 0],
  ]
  const imports = [
    [...text('wasi_snapshot_preview1'), ...text('fd_write'), 0, 0],
    [...text('wasi_snapshot_preview1'), ...text('proc_exit'), 0, 1],
  ]
  const exports = [
    [...text('memory'), 2, 0],
    [...text('_start'), 0, 2],
  ]
  const segments = [
    segment(vector, [digit, 0, 0, 0, 2, 0, 0, 0]),
    segment(
      digit,
      [...'0?'].map((c) => c.charCodeAt(0)),
    ),
  ]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, ...sized(list(types))],
    ...[2, ...sized(list(imports))],
    ...[3, ...sized(list([[2]]))],
    ...[5, ...sized(list([[0, 1]]))],
    ...[7, ...sized(list(exports))],
    ...[10, ...sized(list([sized([0, ...body, 0x0b])]))],
    ...[11, ...sized(list(segments))],
  ])
}

const load = [0x2d, 0, 0]
const store = [0x3a, 0, 0]
const add = 0x6a
const drop = 0x1a

function call(index: number): readonly number[] {
  return [0x10, index]
}

/** `i32.const` with a number below 8,192 in signed LEB128. */
function constant(value: number): readonly number[] {
  return value < 64 ? [0x41, value] : [0x41, (value & 0x7f) | 0x80, value >> 7]
}

function segment(offset: number, bytes: readonly number[]): readonly number[] {
  return [0, ...constant(offset), 0x0b, ...sized(bytes)]
}

function text(value: string): readonly number[] {
  return sized([...Buffer.from(value)])
}

function list(items: readonly (readonly number[])[]): readonly number[] {
  return [items.length, ...items.flat()]
}

function sized(bytes: readonly number[]): readonly number[] {
  return bytes.length < 128 ? [bytes.length, ...bytes] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7, ...bytes]
}

test.run()
