import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import { readTemplate, templateNames } from '../template/store.ts'
import { type Template, textsOf, variablesOf } from '../template/template.ts'
import { filled, inputVariable, variablesIn } from '../template/variables.ts'
import type { Cli } from '../terminal/cli.ts'
import { givenOrPicked } from '../terminal/picker.ts'
import type { ChatOptions } from './question.ts'

/** The texts that a template makes of a question. */
export interface Composed {
  readonly text: string
  readonly prompt: string | undefined
}

/** The options of a chat with those of its template, and the text of the template around that of the question. */
export type FromTemplate = Awaited<ReturnType<typeof fromTemplate>>

/**
 * Reads the template that --template names and fills in --var and its defaults; options of the command line go before its own.
 * Throws `invalid` for variables that the template does not have and for those without a value, all at once.
 */
export async function fromTemplate(cli: Cli, options: ChatOptions) {
  const given = options.template === true ? undefined : options.template
  const { name, template } = await readTemplate(
    cli,
    await givenOrPicked(cli, 'template', given, () => templateNames(cli)),
  )
  const values = valuesOf(name, template, options.var ?? {})
  const { system, prompt, files = [] } = template
  return {
    options: {
      ...options,
      ...withDefaults(options, template),
      ...(files.length > 0 && { file: [...files.map((file) => filled(file, values)), ...(options.file ?? [])] }),
    },
    /** Throws `usage` where the template needs a text and there is none; a file stands for one. */
    compose(text: string, hasFiles: boolean): Composed {
      const uses = (part: string | undefined) => variablesIn(part ?? '').some((use) => use.name === inputVariable)
      if (text === '' && !hasFiles && (uses(prompt) || uses(system)))
        throw new AppError(
          'usage',
          `Template "${name}" needs a text for $input: write it, pipe it in, or add a file with -f`,
        )
      const all = new Map([...values, [inputVariable, text]])
      const own = filled(prompt ?? '', all)
      const isUsed = uses(prompt) || (uses(system) && own !== '')
      return {
        text: isUsed ? own : [own, text].filter(Boolean).join('\n\n'),
        prompt: options.prompt ?? (system === undefined ? undefined : filled(system, all)),
      }
    },
  }
}

/** The model, parameters and schema of a template, as far as the command line gives none. */
function withDefaults(options: ChatOptions, template: Template): Partial<ChatOptions> {
  const { temperature, max_tokens: most, max_completion_tokens: mostNew, ...others } = template.options ?? {}
  const limits = { max_tokens: most, max_completion_tokens: mostNew }
  const own = {
    ...others,
    ...(options.temperature === undefined && { temperature }),
    ...(options.maxTokens === undefined && limits),
  }
  const parameters = {
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
    ...options.option,
  }
  const asks = options.schema !== undefined || options.jsonObject === true
  const hasModel = options.model !== undefined || options.persona !== undefined || options.role !== undefined
  return {
    ...(!hasModel && template.model !== undefined && { model: template.model }),
    ...(Object.keys(parameters).length > 0 && { option: parameters }),
    ...(!asks && template.schema !== undefined && { templateSchema: template.schema }),
  }
}

function valuesOf(
  name: string,
  template: Template,
  given: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const { defaults = {} } = template
  const known = variablesOf(template)
  const wrong = Object.keys(given).filter((each) => !known.includes(each))
  const shown = known.length === 0 ? 'it has none' : `it has ${known.map((each) => `$${each}`).join(', ')}`
  const problems = [
    ...wrong.map((each) =>
      each === inputVariable
        ? '--var input: $input is the text of the question'
        : `--var ${each}: the template has no variable $${each}${suggestion(each, known) || `; ${shown}`}`,
    ),
    ...textsOf(template).flatMap(({ place, text }) =>
      variablesIn(text)
        .filter(
          (use) => use.name !== inputVariable && given[use.name] === undefined && defaults[use.name] === undefined,
        )
        .map((use) => `${place}, line ${use.line}: $${use.name} has no value: add --var ${use.name}=… or a default`),
    ),
  ]
  if (problems.length > 0)
    throw new AppError('invalid', `Template "${name}" cannot be filled in`, { details: problems })
  const own = Object.entries(defaults).map(([key, value]) => [key, String(value)] as const)
  return new Map([...own, ...Object.entries(given)])
}
