import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The value, which is closed at the end of the block that declares it by `await using`. */
export function closing<T extends { close(): unknown }>(value: T): T & AsyncDisposable {
  return Object.assign(value, { [Symbol.asyncDispose]: async () => void (await value.close()) })
}

/** A new folder, which is removed at the end of the block that declares it by `using`. */
export function temporaryFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'aichat-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
