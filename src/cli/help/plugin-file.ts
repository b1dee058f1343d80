import { z } from 'zod'
import { manifestFields, pluginManifest } from '../../plugins/plugins.ts'

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

/** The fields of the plugin document, in the order of the schema, parents first, with what the registry says of them. */
export function pluginFields() {
  return [...manifestFields(pluginManifest)].map((field) => {
    const { description = '', examples = [], default: stated } = z.globalRegistry.get(field.schema) ?? {}
    return {
      ...field,
      type: typeOf(field.schema),
      fallback: field.fallback ?? stated,
      description,
      examples: examples as readonly unknown[],
    }
  })
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
export function factsOf({ type, required, fallback }: ReturnType<typeof pluginFields>[number]): string {
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
