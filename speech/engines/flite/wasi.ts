/** Runs a program of WASI preview 1 again and again. All its files live in memory; nothing outside can be reached. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ConsoleStdout, type Fd, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim'

/** The part of the WebAssembly API that is used here; TypeScript describes it only together with the browser. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>
  readonly Instance: new (module: object, imports: object) => { readonly exports: Exports }
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly _start: () => void
}

export interface ProgramResult {
  readonly exitCode: number
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Its stdout and stderr, cut at 64 kB. */
  readonly output: string
}

/** Runs the program to its end, on this thread; it finds the files in its folder. A trap of the program is thrown as it comes. */
export type ProgramRun = (args: readonly string[], files?: Readonly<Record<string, Uint8Array>>) => ProgramResult

/** Characters of a run's output that are kept. */
const longestOutput = 65_536

/** A memory that a run has let grow by more is given back. */
const keptGrowth = 16 * 1024 * 1024

/** A program in a file that stays open. */
export interface Program {
  readonly run: ProgramRun
  close(): void
}

/** Where a stretch of the memory's first content is in the file. */
interface DataSegment {
  readonly offset: number
  readonly position: number
  readonly length: number
}

/**
 * Compiles a program and makes it ready to run, again and again: every run finds the memory as the first one did. The data go
 * from the file into the memory before each run. To compile them too would copy them three times before the first one.
 * Throws for a file that is no module.
 */
export async function openProgram(path: string): Promise<Program> {
  const file = openSync(path, 'r')
  try {
    const { code, data } = readModule(file)
    return {
      run: runsOf(await WebAssembly.compile(code), fillerFrom(file, data)),
      close: () => closeSync(file),
    }
  } catch (reason) {
    closeSync(file)
    throw reason
  }
}

function runsOf(module: object, fillMemory: (memory: Uint8Array) => void): ProgramRun {
  const wasi = new WASI([], [], [], { debug: false })
  let ready: { readonly exports: Exports } | undefined
  let largest: number | undefined
  return (args, files = {}) => {
    const instance = ready ?? new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport })
    ready = undefined
    const { memory } = instance.exports
    largest ??= memory.buffer.byteLength + keptGrowth
    fillMemory(new Uint8Array(memory.buffer))
    const decoder = new TextDecoder()
    let output = ''
    const terminal = new ConsoleStdout((bytes: Uint8Array) => {
      if (output.length < longestOutput) output += decoder.decode(bytes, { stream: true })
    })
    const folder = new PreopenDirectory(
      '/',
      new Map(Object.entries(files).map(([name, bytes]) => [name, new File(bytes)])),
    )
    wasi.args = [...args]
    wasi.fds = [new OpenFile(new File([])), terminal, terminal, folder] satisfies Fd[]
    const exitCode = wasi.start(instance as never)
    // One that failed by `proc_exit` has not restored its stack pointer.
    if (exitCode === 0 && memory.buffer.byteLength <= largest) ready = instance
    const written = [...folder.dir.contents].flatMap(([name, file]) =>
      file instanceof File ? [[name, file.data] as const] : [],
    )
    return { exitCode, files: new Map(written), output }
  }
}

/** Fills from the file, and from a copy in memory once the program runs repeatedly: the file takes some 4 ms longer each time. */
function fillerFrom(file: number, data: readonly DataSegment[]): (memory: Uint8Array) => void {
  const { offset = 0, length = 0 } = data.at(-1) ?? {}
  let copy: Uint8Array | undefined
  let isRepeated = false
  return (memory) => {
    if (copy) {
      memory.set(copy)
      memory.fill(0, copy.length)
      return
    }
    fill(memory, file, data)
    if (isRepeated) copy = memory.slice(0, offset + length)
    isRepeated = true
  }
}

/** Brings the memory to its first content: the data segments, and zeros around them. */
function fill(memory: Uint8Array, file: number, data: readonly DataSegment[]): void {
  let end = 0
  for (const { offset, position, length } of data) {
    memory.fill(0, end, offset)
    end = offset + length
    if (end > memory.length || readSync(file, memory, offset, length, position) !== length)
      throw new Error('The data of the program are cut short')
  }
  memory.fill(0, end)
}

/** Sections by the WebAssembly core specification (binary format, modules). */
const sections = { custom: 0, data: 11 } as const

/** Divides a module: what is compiled, and the data segments in the order of the memory. Names and debug data are left out. */
function readModule(file: number) {
  const { size } = fstatSync(file)
  const code = [bytesAt(file, 0, 8)]
  const data: DataSegment[] = []
  let end = 0
  for (let position = 8; position < size; position = end) {
    const head = bytesAt(file, position, 6)
    const length = readNumber(head, 1)
    end = position + length.end + length.value
    if (head[0] === sections.data) data.push(...readSegments(file, position + length.end))
    else if (head[0] !== sections.custom) code.push(bytesAt(file, position, end - position))
  }
  return { code: Buffer.concat(code), data: data.sort((a, b) => a.offset - b.offset) }
}

/** The segments of a data section: flag, `i32.const` offset `end`, and bytes each. */
function readSegments(file: number, start: number): readonly DataSegment[] {
  const count = readNumber(bytesAt(file, start, 5), 0)
  let position = start + count.end
  return Array.from({ length: count.value }, () => {
    const head = bytesAt(file, position, 13)
    const offset = readNumber(head, 2)
    const length = readNumber(head, offset.end + 1)
    if (head[0] !== 0 || head[1] !== 0x41 || head[offset.end] !== 0x0b)
      throw new Error('The program has data without a fixed place')
    const segment = { offset: offset.value, position: position + length.end, length: length.value }
    position = segment.position + segment.length
    return segment
  })
}

/** An LEB128 number that is not negative, and the index behind it. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0
  for (let index = start, unit = 1; index < bytes.length; index++, unit *= 128) {
    value += (bytes[index]! & 0x7f) * unit
    if (bytes[index]! < 0x80) return { value, end: index + 1 }
  }
  throw new Error('The program is cut short')
}

function bytesAt(file: number, position: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, position))
}
