import { type ConfigFormat, lineBreakOf, withLastBreak } from './format.ts'

/** A line of a `.env` file that sets a variable: its name, its value with quotes, and a comment behind it. */
const assignment =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[^\r\n#]*)/

/** Variables in lines `NAME=value`, as dotenv reads them. Values of several lines are left alone and not seen. */
export const dotenvFormat: ConfigFormat = {
  parse(text) {
    if (text.includes('\0')) throw new Error('it holds bytes that are no text')
    const variables: Record<string, string> = {}
    for (const line of text.split(/\r?\n/)) {
      const [, name, value = ''] = assignment.exec(line) ?? []
      if (name !== undefined) variables[name] = value.trim().replace(/^(["'])([\s\S]*)\1$/, '$2')
    }
    return variables
  },
  ways: [
    (text, [name], value) => {
      const lines = text.split(/(?<=\n)/)
      const at = lines.findLastIndex((line) => assignment.exec(line)?.[1] === name)
      if (at < 0)
        return value === undefined ? text : `${withLastBreak(text)}${String(name)}=${String(value)}${lineBreakOf(text)}`
      const lineBreak = /\r?\n$/.exec(lines[at]!)?.[0] ?? ''
      lines.splice(at, 1, ...(value === undefined ? [] : [`${String(name)}=${String(value)}${lineBreak}`]))
      return lines.join('')
    },
  ],
}
