import { join } from 'node:path'
import type { Settings } from '../settings/settings.ts'

/** The folders that hold whole personas as files. */
export interface PackageFolders {
  /** Packages that are received or sent right now. */
  readonly scratch: string
}

export function packageFolders(paths: Settings['paths']): PackageFolders {
  return { scratch: join(paths.state, 'packages') }
}
