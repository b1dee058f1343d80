/**
 * Sends requests: follows no redirect, connects to no forbidden address, bounds time and size.
 * Uses: `http` for the port and the address rules, `formats`; undici.
 * Begin with: `agent.ts`.
 */
export { type HttpClient, type HttpClientOptions, openHttpClient, type Resolve } from './agent.ts'
