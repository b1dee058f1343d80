/**
 * A persona's memory for MCP clients: tools and resources over operations.
 * Uses: `operations`, and of `personas` and `formats` what rows look like; the MCP server library.
 * Begin with: `persona-server.ts`.
 */
export { takeSeat } from './seat.ts'
