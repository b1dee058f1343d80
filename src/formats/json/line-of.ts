import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser'

/**
 * The line, from 1 on, that a problem of a JSON text is about: problems begin with the path of their field, as
 * `auth.key_env: is missing`, or name a line. For a missing field it is the line of the object that lacks it; null where the
 * text has no such place.
 */
export function lineOf(text: string, problem: string): number | null {
  const named = /\bline (\d+)/.exec(problem)?.[1]
  if (named !== undefined) return Number(named)
  const path = /^([\w.[\]-]+): /.exec(problem)?.[1]?.split('.') ?? []
  const tree = path.length > 0 ? parseTree(text) : undefined
  const node = tree && deepest(tree, path)
  return node ? text.slice(0, node.offset).split('\n').length : null
}

/** The node of a path, or of its longest beginning that is there; undefined for none but the root. */
function deepest(tree: Node, path: readonly string[]): Node | undefined {
  for (let length = path.length; length > 0; length--) {
    const steps = path.slice(0, length).map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    const node = findNodeAtLocation(tree, steps)
    // The line of a member is that of its name.
    if (node) return node.parent?.type === 'property' ? node.parent : node
  }
  return undefined
}
