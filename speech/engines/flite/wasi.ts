/**
 * The part of WASI preview 1 (https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md) that a program needs
 * to read its arguments and write files. All files live in memory; nothing outside can be reached.
 */

import { readSegments, type Segment } from './segments.ts'

/** A compiled program. */
export interface Program {
  readonly module: object
  /** The initial content of its memory; undefined where plain segments do not tell it. */
  readonly segments: readonly Segment[] | undefined
}

/** The part of the WebAssembly API that is used here; TypeScript describes it only together with the browser. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Imports>>,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly _start: () => void } }
}

type Imports = Readonly<Record<string, (...args: never[]) => number>>

const errno = { success: 0, badf: 8, noent: 44, nosys: 52 } as const
const filetype = { character: 2, directory: 3, regular: 4 } as const
/** The one folder the program sees, as the descriptor WASI's start-up code looks for first. */
const rootDescriptor = 3

interface OpenFile {
  bytes: Uint8Array
  length: number
  position: number
}

export interface ProgramResult {
  readonly exitCode: number
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Its stdout and stderr, cut at 64 kB. */
  readonly output: string
}

class Exit extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Compiles a program; one compiled program can run many times. */
export async function compileProgram(bytes: Uint8Array): Promise<Program> {
  return { module: await WebAssembly.compile(bytes), segments: readSegments(bytes) }
}

/** Runs the program to its end, on this thread. A trap of the program is thrown as it comes. */
export type ProgramRun = (args: readonly string[]) => ProgramResult

/** A memory that a run has let grow by more is given back. */
const keptGrowth = 16 * 1024 * 1024

/**
 * Makes a program ready to run, again and again: every run finds the memory as the first one did. Starting anew costs as
 * much as the memory is large, cleaning up as much as has been written; a run that ended badly leaves nothing to clean.
 */
export function openProgram(program: Program): ProgramRun {
  let ready: Instance | undefined = instantiate(program)
  return (args) => {
    const instance = ready ?? instantiate(program)
    ready = undefined
    const result = instance.run(args)
    if (instance.restore()) ready = instance
    return result
  }
}

interface Instance {
  readonly run: ProgramRun
  /** Brings the memory back to its beginning; false where that cannot be done, or not cheaply. */
  restore(): boolean
}

function instantiate(program: Program): Instance {
  const encoder = new TextEncoder()
  const files = new Map<string, OpenFile>()
  const open = new Map<number, OpenFile>()
  let words: readonly Uint8Array[] = []
  let output = ''
  let memory = new DataView(new ArrayBuffer(0))
  let returned = false

  const imports = {
    args_sizes_get(countAt: number, sizeAt: number) {
      memory.setUint32(countAt, words.length, true)
      memory.setUint32(
        sizeAt,
        words.reduce((sum, word) => sum + word.length, 0),
        true,
      )
      return errno.success
    },
    args_get(pointersAt: number, bytesAt: number) {
      let at = bytesAt
      for (const [index, word] of words.entries()) {
        memory.setUint32(pointersAt + 4 * index, at, true)
        new Uint8Array(memory.buffer).set(word, at)
        at += word.length
      }
      return errno.success
    },
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      memory.setBigUint64(at, BigInt(Date.now()) * 1_000_000n, true)
      return errno.success
    },
    fd_close(descriptor: number) {
      return open.delete(descriptor) ? errno.success : errno.badf
    },
    fd_fdstat_get(descriptor: number, at: number) {
      const type =
        descriptor < rootDescriptor
          ? filetype.character
          : descriptor === rootDescriptor
            ? filetype.directory
            : filetype.regular
      if (type === filetype.regular && !open.has(descriptor)) return errno.badf
      memory.setUint8(at, type)
      memory.setUint16(at + 2, 0, true)
      memory.setBigUint64(at + 8, ~0n & 0xffff_ffff_ffff_ffffn, true)
      memory.setBigUint64(at + 16, ~0n & 0xffff_ffff_ffff_ffffn, true)
      return errno.success
    },
    fd_fdstat_set_flags: () => errno.success,
    fd_prestat_get(descriptor: number, at: number) {
      if (descriptor !== rootDescriptor) return errno.badf
      memory.setUint32(at, 0, true)
      memory.setUint32(at + 4, 1, true)
      return errno.success
    },
    fd_prestat_dir_name(_descriptor: number, at: number) {
      memory.setUint8(at, '/'.charCodeAt(0))
      return errno.success
    },
    fd_read(descriptor: number, vectors: number, count: number, readAt: number) {
      const file = open.get(descriptor)
      if (!file && descriptor !== 0) return errno.badf
      let total = 0
      for (let index = 0; file && index < count; index++) {
        const at = memory.getUint32(vectors + 8 * index, true)
        const size = Math.min(memory.getUint32(vectors + 8 * index + 4, true), file.length - file.position)
        if (size <= 0) break
        new Uint8Array(memory.buffer, at, size).set(file.bytes.subarray(file.position, file.position + size))
        file.position += size
        total += size
      }
      memory.setUint32(readAt, total, true)
      return errno.success
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, at: number) {
      const file = open.get(descriptor)
      if (!file) return errno.badf
      const from = whence === 0 ? 0 : whence === 1 ? file.position : file.length
      file.position = from + Number(offset)
      memory.setBigUint64(at, BigInt(file.position), true)
      return errno.success
    },
    fd_write(descriptor: number, vectors: number, count: number, writtenAt: number) {
      const file = open.get(descriptor)
      if (!file && descriptor > 2) return errno.badf
      let total = 0
      for (let index = 0; index < count; index++) {
        const at = memory.getUint32(vectors + 8 * index, true)
        const size = memory.getUint32(vectors + 8 * index + 4, true)
        const bytes = new Uint8Array(memory.buffer, at, size)
        if (file) append(file, bytes)
        else if (output.length < 65_536) output += Buffer.from(bytes).toString('utf8')
        total += size
      }
      memory.setUint32(writtenAt, total, true)
      return errno.success
    },
    path_open(
      _folder: number,
      _lookup: number,
      pathAt: number,
      pathLength: number,
      flags: number,
      _rights: bigint,
      _inheriting: bigint,
      _descriptorFlags: number,
      descriptorAt: number,
    ) {
      const path = Buffer.from(new Uint8Array(memory.buffer, pathAt, pathLength)).toString('utf8')
      const create = (flags & 1) !== 0
      if (!create && !files.has(path)) return errno.noent
      const file = files.get(path) ?? { bytes: new Uint8Array(1 << 16), length: 0, position: 0 }
      files.set(path, file)
      const descriptor = rootDescriptor + 1 + open.size
      open.set(descriptor, file)
      memory.setUint32(descriptorAt, descriptor, true)
      return errno.success
    },
    proc_exit(code: number) {
      throw new Exit(code)
    },
  }

  const { exports: exported } = new WebAssembly.Instance(program.module, {
    wasi_snapshot_preview1: withFreshView(imports, refresh),
  })
  const initialSize = exported.memory.buffer.byteLength
  function refresh(): void {
    // Growing the memory detaches the old buffer.
    if (memory.buffer !== exported.memory.buffer) memory = new DataView(exported.memory.buffer)
  }

  return {
    run(args) {
      words = args.map((word) => encoder.encode(`${word}\0`))
      let exitCode = 0
      try {
        exported._start()
        returned = true
      } catch (thrown) {
        if (!(thrown instanceof Exit)) throw thrown
        exitCode = thrown.code
      }
      const written = [...files].map(([path, file]) => [path, file.bytes.subarray(0, file.length)] as const)
      return { exitCode, files: new Map(written), output }
    },
    restore() {
      // A program that left by `proc_exit` has not restored its stack pointer.
      if (!returned || !program.segments || exported.memory.buffer.byteLength > initialSize + keptGrowth) return false
      returned = false
      files.clear()
      open.clear()
      output = ''
      restoreMemory(new Uint8Array(exported.memory.buffer), program.segments)
      return true
    },
  }
}

/** Restores the writable segments and fills the rest with zeroes. */
function restoreMemory(memory: Uint8Array, segments: readonly Segment[]): void {
  let at = 0
  for (const { offset, size, bytes } of segments.toSorted((one, other) => one.offset - other.offset)) {
    memory.fill(0, at, offset)
    if (bytes) memory.set(bytes, offset)
    at = offset + size
  }
  memory.fill(0, at)
}

function withFreshView(imports: Imports, refresh: () => void): Imports {
  const wrapped: Record<string, (...args: never[]) => number> = {}
  for (const [name, call] of Object.entries(imports))
    wrapped[name] = (...args) => {
      refresh()
      return call(...args)
    }
  return wrapped
}

/** Writes at the file's position; its buffer doubles, so that a long file costs linear time. */
function append(file: OpenFile, bytes: Uint8Array): void {
  const end = file.position + bytes.length
  if (end > file.bytes.length) {
    const larger = new Uint8Array(Math.max(end, 2 * file.bytes.length))
    larger.set(file.bytes.subarray(0, file.length))
    file.bytes = larger
  }
  file.bytes.set(bytes, file.position)
  file.position = end
  file.length = Math.max(file.length, end)
}
