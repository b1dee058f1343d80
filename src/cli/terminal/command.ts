import { Command, Option } from 'commander'

/** A command with examples, shown by `--help` and in the manual. */
export class CliCommand extends Command {
  readonly examples: string[] = []

  /** Has the help of the program list each command and option, in place of an overview. */
  listsAll = false

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name).helpCommand(false)
  }

  /** The arguments and options, by the fields of requests that they fill. */
  readonly fieldNames: Record<string, string> = {}

  private readonly bound: { readonly option: Option; readonly path: string }[] = []

  /**
   * Declares an option that fills a field of the operation's input, see `fieldsOf`: `metadata.category`, or by default the field
   * of its own name. The type and the bounds of the value are those of the operation.
   */
  field<T>(flags: string, description: string, path?: string, parse?: (text: string, before: T) => T): this {
    const option = new Option(flags, description)
    return this.fieldOption(parse ? option.argParser(parse) : option, path)
  }

  /** The same for an option that must be given. */
  requiredField(flags: string, description: string, path?: string): this {
    return this.fieldOption(new Option(flags, description).makeOptionMandatory(), path)
  }

  /** The same for an option with choices or a default. */
  fieldOption(option: Option, path = option.attributeName().replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) {
    this.bound.push({ option, path })
    this.fieldNames[path] ??= option.long ?? option.flags
    return this.addOption(option)
  }

  /** Names arguments that fill fields of other names, for messages on wrong values. */
  fields(names: Readonly<Record<string, string>>): this {
    Object.assign(this.fieldNames, names)
    return this
  }

  /** The values that options give to fields, by the paths of these. */
  fieldValues(): readonly (readonly [path: string, value: unknown])[] {
    return this.bound.flatMap(({ option, path }) => {
      const name = option.attributeName()
      // commander gives an option that a group has as well to the group.
      const value = this.getOptionValue(name) ?? (this.parent?.parent ? this.parent.getOptionValue(name) : undefined)
      return value === undefined ? [] : [[path, value] as const]
    })
  }

  /** The option or argument that fills a field of a request; undefined where none does. */
  nameOf(field: string): string | undefined {
    const [first = ''] = field.split('.')
    const known = this.fieldNames[field] ?? this.fieldNames[first]
    // An item of a list that no option states is from a file.
    if (known !== undefined) return /\.\d+\./.test(field) && !this.isStated(known) ? undefined : known
    const option = this.options.find(({ long }) => long?.replace(/^--(?:no-)?/, '').replaceAll('-', '_') === first)
    const argument = this.registeredArguments.find((each) => each.name() === first)
    return option?.long ?? argument?.name().toUpperCase()
  }

  private isStated(name: string): boolean {
    const option = this.options.find(({ long }) => long === name)
    return option ? this.getOptionValue(option.attributeName()) !== undefined : this.args.length > 0
  }

  /** Adds shell lines; test/cli/help/examples.test.ts parses each. */
  example(...lines: readonly string[]): this {
    this.examples.push(...lines)
    return this
  }
}
