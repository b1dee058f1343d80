/** A part of a program's memory that is filled when it starts. */
export interface Segment {
  readonly offset: number
  readonly size: number
  /** Its initial content; undefined for constants (the linker's `.rodata`), which never change. */
  readonly bytes: Uint8Array | undefined
}

interface Filling {
  readonly offset: number
  readonly bytes: Uint8Array
}

const sectionIds = { custom: 0, data: 11 } as const
const dataNames = 9
/** The code of `i32.const`, the only way a linker writes where a segment lies. */
const i32Const = 0x41

/**
 * Reads the data segments of a WebAssembly module (core specification, "Data Section"), and from its `name` section which
 * are constants. Returns undefined where other than plain active segments fill the memory.
 */
export function readSegments(module: Uint8Array): readonly Segment[] | undefined {
  const bytes = Buffer.from(module.buffer, module.byteOffset, module.byteLength)
  let fillings: readonly Filling[] | undefined = []
  let names: ReadonlyMap<number, string> = new Map()
  for (let at = 8; at < bytes.length; ) {
    const id = bytes[at]!
    const [size, start] = readNumber(bytes, at + 1)
    const body = bytes.subarray(start, start + size)
    if (id === sectionIds.data) fillings = readData(body)
    if (id === sectionIds.custom) names = readDataNames(body) ?? names
    at = start + size
  }
  return fillings?.map(({ offset, bytes: filling }, index) => ({
    offset,
    size: filling.length,
    // A copy of the few bytes that will be needed again, so that the module's own can be forgotten.
    bytes: names.get(index)?.startsWith('.rodata') ? undefined : new Uint8Array(filling),
  }))
}

function readData(body: Buffer): readonly Filling[] | undefined {
  const fillings: Filling[] = []
  let [count, at] = readNumber(body, 0)
  for (; count > 0; count--) {
    // Flags 0 and the expression `i32.const offset end`.
    if (body[at] !== 0 || body[at + 1] !== i32Const) return undefined
    const [offset, afterOffset] = readNumber(body, at + 2)
    const [size, start] = readNumber(body, afterOffset + 1)
    fillings.push({ offset, bytes: body.subarray(start, start + size) })
    at = start + size
  }
  return fillings
}

/** The names of the data segments, where this custom section is the `name` section. */
function readDataNames(body: Buffer): ReadonlyMap<number, string> | undefined {
  const [length, start] = readNumber(body, 0)
  if (body.toString('utf8', start, start + length) !== 'name') return undefined
  for (let at = start + length; at < body.length; ) {
    const id = body[at]
    const [size, inside] = readNumber(body, at + 1)
    if (id === dataNames) return readNames(body.subarray(inside, inside + size))
    at = inside + size
  }
  return undefined
}

function readNames(body: Buffer): ReadonlyMap<number, string> {
  const names = new Map<number, string>()
  let [count, at] = readNumber(body, 0)
  for (; count > 0; count--) {
    const [index, afterIndex] = readNumber(body, at)
    const [length, start] = readNumber(body, afterIndex)
    names.set(index, body.toString('utf8', start, start + length))
    at = start + length
  }
  return names
}

/** An integer in LEB128 below 2^32, and where it ends. Offsets are signed in form only: memory ends at 2 GB here. */
function readNumber(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0
  let at = start
  for (let shift = 0; shift < 35 && at < bytes.length; shift += 7) {
    const byte = bytes[at++]!
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  return [value, at]
}
