import ky from 'ky'
import { AppError, toAppError } from '../../errors.ts'
import { parseJson } from '../../formats/json.ts'
import { lookupFailure } from '../../http/lookup-failure.ts'
import { type Cli, show } from '../terminal/cli.ts'
import { readJsonInput } from '../terminal/files.ts'

/** The longest plugin document: bytes. */
const limit = 256 * 1024

/** A plugin document from a file, from stdin (`-`), or from an http(s) address; without a key, and following no redirect. */
export async function readPlugin(cli: Cli, source: string): Promise<Record<string, unknown>> {
  const document = /^https?:\/\//i.test(source)
    ? await fetchJson(source, cli.signal())
    : await readJsonInput(cli, source, limit)
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new AppError('invalid', 'A plugin is a JSON object')
  return document as Record<string, unknown>
}

/**
 * Checks files with the rules of this installation, without touching it; exit 65 when one is invalid, 66 when one cannot
 * be read, 1 when all are valid and something in one will not do what its author meant.
 */
export async function validateFiles(cli: Cli, files: readonly string[]): Promise<void> {
  const { openApp } = await import('../../app/app.ts')
  const { unknownFieldsOf } = await import('../../plugins/manifest-warnings.ts')
  const app = openApp(await cli.settings())
  const results: { file: string; valid: boolean; errors: readonly string[]; warnings: readonly string[] }[] = []
  for (const file of files) {
    let document: unknown
    try {
      document = await readJsonInput(cli, file, limit)
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
  await show(cli, { files: results }, () =>
    results
      .map(({ file, valid, errors, warnings }) => {
        const verdict = valid ? (warnings.length > 0 ? 'warning' : 'ok     ') : 'invalid'
        return [`${verdict} ${file}`, ...[...errors, ...warnings].map((line) => `  ${line}`)].join('\n')
      })
      .join('\n'),
  )
}

/** What is wrong with a document; where it could not be read as one, that first. */
function problemsOf({ message, details, cause }: AppError): readonly string[] {
  return details.length > 0 && cause === undefined ? details : [message, ...details]
}

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await ky.get(url, {
      redirect: 'manual',
      throwHttpErrors: false,
      retry: 0,
      timeout: 20_000,
      signal,
    })
    if (!response.ok) throw new AppError('unavailable', `${url} answered with status ${response.status}`)
    const text = await response.text()
    if (text.length > limit) throw new AppError('too_large', `${url} holds more than ${limit / 1024} KiB`)
    return parseJson(text, url)
  } catch (reason) {
    throw reason instanceof AppError
      ? reason
      : new AppError('unavailable', `${url} cannot be reached`, {
          details: [lookupFailure(reason)].filter((line) => line !== undefined),
          cause: reason,
        })
  }
}
