import { readWords } from '../words/read-words.ts'

/**
 * Every irregular form of an English word with its base form, lower case: forms that no suffix rule finds. Forms that are words of
 * their own too (`left`, `saw`, `found`) are among them where the verb is likelier in personal statements; `wound`, `ground` and
 * `lives` are not.
 */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  Object.entries(readWords<Readonly<Record<string, string>>>('irregular-forms')).flatMap(([base, forms]) =>
    forms.split(' ').map((form): [string, string] => [form, base]),
  ),
)
