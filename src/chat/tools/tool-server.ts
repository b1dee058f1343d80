/** Servers with tools for models. The area states its needs; `src/mcp-client` connects to them. */
import type { ContentPart } from '../protocol/messages.ts'

/** A tool as its server describes it. Every word of it is untrusted. */
export interface ServerTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
}

/** The result of a call, as parts for the model; pictures and other data stand in them in base64. */
export interface ToolResult {
  readonly content: readonly ContentPart[]
  readonly isError: boolean
}

export interface ToolServer {
  readonly name: string
  /** Identifies the server by its command line or address; it is part of every pin. */
  readonly origin: string
  /** The tools of the moment: asked for again after the server announced a change, and with `fresh`. */
  tools(options?: { readonly fresh?: boolean }): Promise<readonly ServerTool[]>
  /** Throws an AppError: `timeout` after the server's time limit, `unavailable` where the server has ended. */
  call(tool: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ToolResult>
  /** Ends the connection, and the server's processes. */
  close(): Promise<void>
}
