/**
 * A persona's memory for MCP clients: tools over operations.
 * Uses: `operations`, and the row types of `personas` and `formats`; the MCP server library.
 * Begin with: `persona-server.ts`.
 */
export { takeSeat } from './seat.ts'
