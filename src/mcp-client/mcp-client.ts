/**
 * Connections to MCP servers, whose tools a model may call, and the list of servers in a file.
 * Uses: `http/send.ts`, `storage` for the file, the types of `chat/tools`; the MCP client library.
 * Begin with: `connection.ts`. What is offered, approved and called is decided in `chat/tools`.
 */
export { type ConfiguredServer, openServerList, type ServerList } from './server-list.ts'
