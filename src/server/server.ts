/**
 * The daemon: routes made from the operations, guards, event streams, OpenAPI, metrics, workers, and the speech ports.
 * Uses: `operations`, `app`, and the shapes of the areas that its wire formats need; h3 and listhen.
 * Begin with: `serve.ts`, then `http-server.ts` and `routes.ts`.
 */
export { type ServeOptions, serve } from './serve.ts'
export { runWorker } from './worker.ts'
