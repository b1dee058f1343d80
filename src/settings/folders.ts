import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The folder that a variable names. As the XDG specification asks, an empty or relative path counts as none. */
export function folderOf(environment: Environment, name: string): string | undefined {
  const path = environment[name]
  return path && isAbsolute(path) ? path : undefined
}

/** A sentence for each folder variable that is ignored since its path is relative. */
export function ignoredFolders(environment: Environment): readonly string[] {
  return ['AICHAT_HOME', 'HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'].flatMap(
    (name) => ignoredPath(name, environment[name] ?? ''),
  )
}

/** The sentence for a path that is ignored, where it is relative. */
export function ignoredPath(name: string, path: string): readonly string[] {
  if (path === '' || isAbsolute(path)) return []
  return [`${name} is ignored, since its path is relative: give the path from / on`]
}

/** The user's home folder: `HOME`, else that of the system, which is `/` for a user that the system does not know. */
export function homeFolder(environment: Environment): string {
  return folderOf(environment, 'HOME') ?? systemHome()
}

/** A folder of the XDG specification: `xdgFolder(environment, 'XDG_DATA_HOME', '.local', 'share')`. */
export function xdgFolder(environment: Environment, name: string, ...usual: readonly string[]): string {
  return folderOf(environment, name) ?? join(homeFolder(environment), ...usual)
}

/** Not `homedir()`, which reads HOME itself, an empty one too. */
function systemHome(): string {
  try {
    const { homedir } = userInfo()
    return isAbsolute(homedir) ? homedir : '/'
  } catch {
    return '/'
  }
}
