/**
 * Child processes with one protocol (request, items, result; deadline, restart, close), and the shapes of waiting:
 * queue, turn, work under way, time bounds.
 * Uses: nothing.
 * Begin with: `child.ts` (the parent), `child-side.ts`, `queue.ts`.
 */
export { Bag, type Kept } from './bag.ts'
export { type Child, type ChildModule, spawnChild } from './child.ts'
export { serveParent, serveTask } from './child-side.ts'
export { collectYielding, pauseFor, yieldToEventLoop } from './event-loop-turns.ts'
export { errorOf, type Failure, failureOf } from './frames.ts'
export { atOnce, type HeavyWork, heavyTurn, inTurns } from './heavy-turns.ts'
export { holder, holderPattern, isHeld } from './holders.ts'
export { boundMemory, childMemory } from './memory-bound.ts'
export { createPerUserLimit, createWorkQueue, type PerUserLimit } from './queue.ts'
export { createRevivedChild } from './revived-child.ts'
export { runInChild } from './run-in-child.ts'
export { inTime, type TimeBound, within } from './time-bound.ts'
export { oncePerTurn } from './turn.ts'
export { once, whileUnderWay } from './under-way.ts'
