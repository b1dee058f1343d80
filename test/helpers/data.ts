import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A folder of the shared test data, or undefined where `AICHAT_TEST_DATA` is not set or does not hold it.
 * The tests that need it then count themselves as skipped.
 */
export function testData(...parts: readonly string[]): string | undefined {
  const root = process.env['AICHAT_TEST_DATA']
  const path = root && join(root, ...parts)
  return path && existsSync(path) ? path : undefined
}
