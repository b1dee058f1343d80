import { z } from 'zod'
import { pluginManifest } from '../../plugins/plugins.ts'
import { escapeRoff } from './roff.ts'

/** A field of the plugin document, at any depth. */
interface PluginField {
  /** Dotted path; `[]` stands for the items of a list. */
  readonly path: string
  readonly type: string
  readonly required: boolean
  readonly fallback: unknown
  readonly description: string
  readonly examples: readonly unknown[]
  readonly schema: z.core.$ZodType
}

/** The smallest useful plugin file. */
export const minimalPlugin = {
  id: 'custom',
  name: 'Custom',
  type: 'completion',
  endpoint: 'https://chat.example/v1/chat/completions',
  auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
  model_map: ['custom-large'],
}

const introduction = [
  'A plugin is a JSON file that describes how to reach a provider of chat models, embeddings or speech.',
  'Unknown fields are kept and have no effect; `aichat plugin validate FILE` names them and every problem.',
]

/** The fields of the plugin document, in the order of the schema, parents first. */
export function pluginFields(): readonly PluginField[] {
  return [...fieldsOf(pluginManifest, '')]
}

function* fieldsOf(schema: z.core.$ZodType, prefix: string): Generator<PluginField> {
  const { def } = unwrapped(schema).schema._zod as z.core.$ZodTypes['_zod']
  if (def.type === 'array') yield* fieldsOf(def.element, `${prefix}[]`)
  if (def.type === 'union') for (const option of def.options) yield* fieldsOf(option, prefix)
  if (def.type !== 'object') return
  for (const [name, value] of Object.entries(def.shape)) {
    const path = prefix ? `${prefix}.${name}` : name
    const { schema: inner, optional, fallback } = unwrapped(value)
    const { description = '', examples = [], default: stated } = z.globalRegistry.get(inner) ?? {}
    yield {
      path,
      type: typeOf(inner),
      required: !optional,
      fallback: fallback ?? stated,
      description,
      examples: examples as readonly unknown[],
      schema: inner,
    }
    yield* fieldsOf(inner, path)
  }
}

/** Removes the wrappers of optional and default fields. */
function unwrapped(schema: z.core.$ZodType): { schema: z.core.$ZodType; optional: boolean; fallback: unknown } {
  const { def } = schema._zod as z.core.$ZodTypes['_zod']
  if (def.type === 'optional') return { ...unwrapped(def.innerType), optional: true }
  if (def.type === 'default') return { ...unwrapped(def.innerType), optional: true, fallback: def.defaultValue }
  return { schema, optional: false, fallback: undefined }
}

function typeOf(schema: z.core.$ZodType): string {
  const { def } = schema._zod as z.core.$ZodTypes['_zod']
  if (def.type === 'enum')
    return Object.values(def.entries)
      .join(', ')
      .replace(/, ([^,]+)$/, ' or $1')
  if (def.type === 'literal') return def.values.map(String).join(' or ')
  if (def.type === 'number') return 'format' in def ? 'whole number' : 'number'
  if (def.type === 'array') return `list of ${typeOf(def.element)}`
  if (def.type === 'record') return `object of ${typeOf(def.valueType)} by name`
  if (def.type === 'union') return def.options.map(typeOf).join(' or ')
  return def.type
}

/** The facts of a field behind its path: `string, required` or `integer, default 2`. */
function factsOf({ type, required, fallback }: PluginField): string {
  const presence = required ? 'required' : `default ${fallback === undefined ? 'none' : JSON.stringify(fallback)}`
  return `${type}; ${presence}`
}

/** `aichat help plugin-file`, wrapped to the columns of the terminal. */
export function pluginFileText(columns: number): string {
  const width = Math.max(40, Math.min(columns, 110))
  const fields = pluginFields().flatMap((field) => [
    `${field.path} (${factsOf(field)})`,
    ...wrapped(field.description, width - 4).map((line) => `    ${line}`),
    ...field.examples.map((example) => `    Example: ${JSON.stringify(example)}`),
  ])
  const example = JSON.stringify(minimalPlugin, null, 2)
  return `${[...introduction.flatMap((line) => wrapped(line, width)), '', example, '', 'Fields:', '', ...fields].join('\n')}\n`
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The sections of aichat-plugin(5) that list the fields, in mdoc(7). */
export function pluginFieldsRoff(): readonly string[] {
  return [
    '.Sh FIELDS',
    'A path names a nested field;',
    '.Ql []',
    'stands for the items of a list.',
    '.Bl -tag -width Ds',
    ...pluginFields().flatMap((field) => [
      `.It Cm ${escapeRoff(field.path)}`,
      `(${escapeRoff(factsOf(field))})`,
      // A sentence of mdoc begins a line.
      escapeRoff(field.description.replace(/([.;]) (?=[A-Z])/g, '$1\n')),
      ...field.examples.flatMap((example) => [
        '.Pp',
        'Example:',
        '.Bd -literal -compact',
        escapeRoff(JSON.stringify(example)),
        '.Ed',
      ]),
    ]),
    '.El',
  ]
}
