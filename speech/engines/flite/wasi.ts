/** Runs a program of WASI preview 1 again and again. All its files live in memory; nothing outside can be reached. */
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

/** A compiled program, which can run many times. */
export type Program = object

export interface ProgramResult {
  readonly exitCode: number
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Its stdout and stderr, cut at 64 kB. */
  readonly output: string
}

/** Runs the program to its end, on this thread; it finds the files in its folder. A trap of the program is thrown as it comes. */
export type ProgramRun = (args: readonly string[], files?: Readonly<Record<string, Uint8Array>>) => ProgramResult

/** A memory that a run has let grow by more is given back. */
const keptGrowth = 16 * 1024 * 1024

/** Characters of a run's output that are kept. */
const longestOutput = 65_536

/** Compiles a program. */
export function compileProgram(bytes: Uint8Array): Promise<Program> {
  return WebAssembly.compile(bytes)
}

/**
 * Makes a program ready to run, again and again: every run finds the memory as the first one did. To copy its beginning
 * back costs a tenth of what a new instance does; a run that ended badly leaves nothing to restore.
 */
export function openProgram(program: Program): ProgramRun {
  let ready: ProgramRun | undefined = instantiate()
  return (args, files) => {
    const run = ready ?? instantiate()
    ready = undefined
    return run(args, files)
  }

  function instantiate(): ProgramRun {
    const wasi = new WASI([], [], [], { debug: false })
    const instance = new WebAssembly.Instance(program, { wasi_snapshot_preview1: wasi.wasiImport })
    const { memory } = instance.exports
    const beginning = new Uint8Array(memory.buffer.slice(0))
    const run: ProgramRun = (args, files = {}) => {
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
      if (exitCode === 0 && memory.buffer.byteLength <= beginning.length + keptGrowth) {
        const used = new Uint8Array(memory.buffer)
        used.set(beginning)
        used.fill(0, beginning.length)
        ready = run
      }
      const written = [...folder.dir.contents].flatMap(([name, file]) =>
        file instanceof File ? [[name, file.data] as const] : [],
      )
      return { exitCode, files: new Map(written), output }
    }
    return run
  }
}
