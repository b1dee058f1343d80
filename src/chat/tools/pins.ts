import { createHash } from 'node:crypto'
import { canonicalize, wellFormed } from '../../formats/formats.ts'
import type { ServerTool, ToolServer } from './tool-server.ts'

/** The longest name of a function: characters of A-Z, a-z, 0-9, _ and -, at OpenAI and Anthropic alike. */
const longestName = 64

/** The hash of all that a user approves in a tool: server, name, description, schemas and annotations. */
export function pinOf({ name: server, origin }: Pick<ToolServer, 'name' | 'origin'>, tool: ServerTool): string {
  const { name, description = null, inputSchema, outputSchema = null, annotations = null } = tool
  return hashOf(canonicalize(wellFormed({ server, origin, name, description, inputSchema, outputSchema, annotations })))
}

/** The name under which a model sees a tool: `server__tool`, made to fit, and unlike all of `taken`. */
export function offeredName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const whole = `${server}__${tool}`
  const plain = whole.replace(/[^\w-]/g, '_')
  if (plain === whole && plain.length <= longestName && !taken.has(plain)) return plain
  for (let at = 0; ; at++) {
    const suffix = `_${hashOf(at === 0 ? whole : `${whole} ${at}`).slice(0, 8)}`
    const name = `${plain.slice(0, longestName - suffix.length)}${suffix}`
    if (!taken.has(name)) return name
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
