import jq from 'jq-web'
import { AppError } from '../errors.ts'
import { serveParent } from '../process/child-side.ts'
import { boundMemory } from '../process/memory-bound.ts'
import { type FilterMethods, memoryPerCharacter, mostTextMemory } from './json-filter.ts'

/** jq's exit code for an expression that does not compile (jq's manual, "Invoking jq"). */
const notCompiled = 3

/** Texts as they are, and each result on a line of its own, as `gh --jq` writes them. */
const flags = ['-r', '-c']

const allowMemory = boundMemory()

// Runs in a process of its own: see json-filter.ts.
serveParent<FilterMethods>({
  async check(expression) {
    await filtered(expression, '')
    return null
  },
  allow(characters) {
    allowMemory(Math.min(characters * memoryPerCharacter, mostTextMemory))
    return null
  },
  async apply({ expression, text }) {
    const results = await filtered(expression, text)
    return results === '' ? '' : `${results}\n`
  },
})

async function filtered(expression: string, text: string): Promise<string> {
  const { raw } = await jq
  try {
    // A space keeps an expression such as -1 from being read as an option.
    return raw(text, ` ${expression}`, [...flags]) ?? ''
  } catch (reason) {
    throw failureOf(reason as { readonly exitCode?: number; readonly stderr?: string })
  }
}

function failureOf(reason: { readonly exitCode?: number; readonly stderr?: string }): AppError {
  const { exitCode, stderr = '' } = reason
  const details = linesOf(stderr)
  const cause = { cause: reason }
  if (exitCode === notCompiled) return new AppError('usage', 'Invalid --jq expression', { details, ...cause })
  if (/^jq: parse error/.test(stderr))
    return new AppError('invalid', '--jq filters JSON, and this output is none', { details, ...cause })
  if (exitCode !== undefined)
    return new AppError('invalid', 'The --jq expression does not fit the output', { details, ...cause })
  // The memory of WebAssembly, or its stack, is used up.
  return new AppError(
    'too_large',
    'jq ran out of memory: the output or the nesting of the expression is too large',
    cause,
  )
}

/** The lines of jq's message, without its count of errors and the spaces that it pads lines with. */
function linesOf(message: string): readonly string[] {
  return message
    .split('\n')
    .map((line) => line.replace(' (Unix shell quoting issues?)', '').trim())
    .filter((line) => line !== '' && !/^jq: \d+ compile errors?$/.test(line))
}
