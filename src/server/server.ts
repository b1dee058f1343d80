/**
 * The daemon: routes made from the operations, guards, event streams, OpenAPI, metrics, workers, and the speech ports.
 * Uses: `operations`, `app` and `settings`, the shapes of the areas that its wire formats need, the tools; h3 and listhen.
 * Begin with: `serve.ts`, `http-server.ts`, `request-context.ts` (opens every request), `routes.ts`.
 */
export { type ServeOptions, serve } from './serve.ts'
export { runWorker } from './worker.ts'
