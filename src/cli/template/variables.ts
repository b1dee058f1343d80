/** `$$`, `$name` or `${name}`; a dollar sign before anything else stands for itself. */
const places = /\$(?:\$|([A-Za-z_][A-Za-z0-9_]{0,63})|\{([A-Za-z_][A-Za-z0-9_]{0,63})\})/g

export const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** The variable that stands for the text of the question. */
export const inputVariable = 'input'

/** A variable in a text, with the line that has it first, from 1. */
export interface VariableUse {
  readonly name: string
  readonly line: number
}

/** The variables of a text, each once, in their order. */
export function variablesIn(text: string): readonly VariableUse[] {
  const found = new Map<string, VariableUse>()
  for (const match of text.matchAll(places)) {
    const name = match[1] ?? match[2]
    if (name !== undefined && !found.has(name))
      found.set(name, { name, line: text.slice(0, match.index).split('\n').length })
  }
  return [...found.values()]
}

/** The text with values in the place of variables; values are never read for variables, and unknown ones stay. */
export function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(places, (whole, plain: string | undefined, braced: string | undefined) => {
    const name = plain ?? braced
    return name === undefined ? '$' : (values.get(name) ?? whole)
  })
}
