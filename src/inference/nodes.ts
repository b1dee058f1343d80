/**
 * Builds ONNX models in memory. A model written here is some kilobytes: its weights stay in the files they came in,
 * to which it points as external data. Format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */
import { type Field, writeMessage } from './protobuf.ts'

/** The name of a tensor that flows through a graph. */
export type Value = string & { readonly graphValue: unique symbol }

/** Element types, with the numbers of `TensorProto.DataType`. */
const elementTypes = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  bfloat16: 16,
} as const

export type ElementType = keyof typeof elementTypes

export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }

export type Attributes = Readonly<Record<string, Attribute>>

/** A tensor inside a file: where a graph points to instead of holding the numbers. */
export interface ExternalTensor {
  /** Path relative to the folder that the session is opened with. */
  readonly location: string
  /** Bytes from the start of the file. */
  readonly offset: number
  readonly length: number
  readonly type: ElementType
  readonly shape: readonly number[]
}

/** Dimensions of an input or output; a word stands for a size that may change from call to call. */
export type Shape = readonly (number | string)[]

/** A set of operators that is not ONNX's own: those of ONNX Runtime. */
export const contributed = 'com.microsoft'

export type Nodes = ReturnType<typeof createNodes>

/** Opset 20 is the first with Gelu; version 9 of the representation belongs to it. */
const opset = 20
const representation = 9

/** An empty list of nodes. They must be added in the order in which they can run. */
export function createNodes(name: string) {
  const declared: Field[] = []
  const outputs: Field[] = []
  const nodes: { operator: string; inputs: string[]; outputs: string[]; attributes: Attributes; domain: string }[] = []
  const initializers = new Map<string, { value: Value; fields: Field[] }>()
  const renamed = new Map<string, string>()
  let count = 0

  return {
    input(inputName: string, type: ElementType, shape: Shape): Value {
      declared.push({ field: 11, message: valueInfo(inputName, type, shape) })
      return inputName as Value
    },
    /** Numbers stored in the model itself; equal constants are stored once. */
    constant(type: ElementType, shape: readonly number[], data: ArrayBufferView): Value {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      return initializer(`${type} ${shape} ${bytes.toString('latin1')}`, [
        ...tensorFields(type, shape),
        { field: 9, bytes },
      ])
    },
    /** Numbers that stay in their file; the same place is entered once. */
    external({ location, offset, length, type, shape }: ExternalTensor): Value {
      return initializer(`${location} ${offset} ${length} ${type} ${shape}`, [
        ...tensorFields(type, shape),
        ...Object.entries({ location, offset, length }).map(([key, value]) => ({
          field: 13,
          message: [
            { field: 1, text: key },
            { field: 2, text: String(value) },
          ],
        })),
        { field: 14, varint: 1 },
      ])
    },
    /** One operator with one output. An input that is left out is `undefined`. */
    node: (operator: string, from: readonly (Value | undefined)[], attributes?: Attributes, domain?: string) =>
      add(operator, from, 1, attributes, domain)[0]!,
    nodes: add,
    /** Makes a value an output under a name of its own. */
    output(outputName: string, value: Value, type: ElementType, shape: Shape) {
      renamed.set(value, outputName)
      outputs.push({ field: 12, message: valueInfo(outputName, type, shape) })
    },
    encode,
  }

  /** One operator with several outputs. */
  function add(
    operator: string,
    from: readonly (Value | undefined)[],
    outputCount: number,
    attributes: Attributes = {},
    domain = '',
  ): Value[] {
    const made = Array.from({ length: outputCount }, () => fresh(operator))
    // An absent input in the middle is written as an empty name; at the end it must not be written at all.
    const inputs = from.slice(0, from.findLastIndex((value) => value !== undefined) + 1).map((value) => value ?? '')
    nodes.push({ operator, inputs, outputs: made, attributes, domain })
    return made
  }

  function initializer(key: string, fields: Field[]): Value {
    const known = initializers.get(key)
    if (known) return known.value
    const value = fresh('weight')
    initializers.set(key, { value, fields: [...fields, { field: 8, text: value }] })
    return value
  }

  function fresh(prefix: string): Value {
    count += 1
    return `${prefix}_${count}` as Value
  }

  /** The model as bytes, for a session. */
  function encode(): Uint8Array {
    const nameOf = (value: string) => renamed.get(value) ?? value
    const nodeFields = nodes.map((node, index) => ({
      field: 1,
      message: [
        ...node.inputs.map((value) => ({ field: 1, text: nameOf(value) })),
        ...node.outputs.map((value) => ({ field: 2, text: nameOf(value) })),
        { field: 3, text: `${node.operator}_${index}` },
        { field: 4, text: node.operator },
        ...Object.entries(node.attributes).map(([key, value]) => ({ field: 5, message: attributeFields(key, value) })),
        ...(node.domain ? [{ field: 7, text: node.domain }] : []),
      ],
    }))
    const initializerFields = [...initializers.values()].map(({ fields }) => ({ field: 5, message: fields }))
    return writeMessage([
      { field: 1, varint: representation },
      { field: 2, text: 'aichat' },
      { field: 7, message: [...nodeFields, { field: 2, text: name }, ...initializerFields, ...declared, ...outputs] },
      { field: 8, message: [{ field: 2, varint: opset }] },
      {
        field: 8,
        message: [
          { field: 1, text: contributed },
          { field: 2, varint: 1 },
        ],
      },
    ])
  }
}

/** The fields that every `TensorProto` has: dimensions and element type. */
function tensorFields(type: ElementType, shape: readonly number[]): Field[] {
  return [
    { field: 1, packed: shape },
    { field: 2, varint: elementTypes[type] },
  ]
}

/** A `ValueInfoProto`. */
function valueInfo(name: string, type: ElementType, shape: Shape): Field[] {
  const dimensions = shape.map((size) => ({
    field: 1,
    message: [typeof size === 'number' ? { field: 1, varint: size } : { field: 2, text: size }],
  }))
  const tensor: Field[] = [
    { field: 1, varint: elementTypes[type] },
    { field: 2, message: dimensions },
  ]
  return [
    { field: 1, text: name },
    { field: 2, message: [{ field: 1, message: tensor }] },
  ]
}

/** An `AttributeProto`; field 20 is the kind of its value. */
function attributeFields(name: string, attribute: Attribute): Field[] {
  const title: Field = { field: 1, text: name }
  if ('int' in attribute) return [title, { field: 3, varint: attribute.int }, { field: 20, varint: 2 }]
  if ('float' in attribute) return [title, { field: 2, float: attribute.float }, { field: 20, varint: 1 }]
  if ('text' in attribute) return [title, { field: 4, text: attribute.text }, { field: 20, varint: 3 }]
  return [title, ...attribute.ints.map((value) => ({ field: 8, varint: value })), { field: 20, varint: 7 }]
}
