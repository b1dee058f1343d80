import { openApp } from '../../app/app.ts'
import { type AppError, toAppError } from '../../errors.ts'
import { unknownFieldsOf } from '../../plugins/plugins.ts'
import type { Cli } from '../terminal/cli.ts'
import { readJsonInput } from '../terminal/files.ts'
import { print } from '../terminal/output.ts'

/** The longest plugin document: bytes. */
export const longestDocument = 256 * 1024

/** Checks files against this installation's rules. Exit 65 for an invalid one, 66 unreadable, 1 with warnings alone. */
export async function validate(cli: Cli, files: readonly string[]): Promise<void> {
  const app = await openApp(await cli.settings())
  const results: { file: string; valid: boolean; errors: readonly string[]; warnings: readonly string[] }[] = []
  for (const file of files) {
    let document: unknown
    try {
      document = await readJsonInput(cli, file, longestDocument)
      const warnings = app.plugins.warnings(app.plugins.validate(document))
      if (warnings.length > 0) cli.exit = Math.max(cli.exit, 1)
      results.push({ file, valid: true, errors: [], warnings })
    } catch (reason) {
      const error = toAppError(reason)
      cli.exit = Math.max(cli.exit, error.exit)
      results.push({ file, valid: false, errors: problemsOf(error), warnings: unknownFieldsOf(document) })
    }
  }
  await app.close()
  await print(cli, { files: results }, () =>
    results
      .map(({ file, valid, errors, warnings }) => {
        const result = valid ? (warnings.length > 0 ? 'warning' : 'ok     ') : 'invalid'
        return [`${result} ${file}`, ...[...errors, ...warnings].map((line) => `  ${line}`)].join('\n')
      })
      .join('\n'),
  )
}

/** The problems of a document; a failure to read or parse it comes first. */
function problemsOf({ message, details, cause }: AppError): readonly string[] {
  return details.length > 0 && cause === undefined ? details : [message, ...details]
}
