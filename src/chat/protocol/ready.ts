/**
 * An iteration that may have more items at once: those that came with the last one. A reader takes them without a promise
 * for each, where the pieces of an answer arrive many at a time; `next` gives them as well.
 */
export interface ReadyIterator<T> extends AsyncIterableIterator<T> {
  /** The next item, where it is there already; undefined where it has to be waited for, and at the end. */
  ready(): T | undefined
  /** Whether the end has come with the last item: `next` waits for no more bytes then. */
  isEnding(): boolean
}

/** The next item of an iteration, where it is one of these and has it already. */
export function readyIn<T>(items: AsyncIterable<T> | AsyncIterator<T>): T | undefined {
  return (items as Partial<ReadyIterator<T>>).ready?.()
}

/** Whether an iteration is one of these and its end has come. */
export function isEnding<T>(items: AsyncIterable<T> | AsyncIterator<T>): boolean {
  return (items as Partial<ReadyIterator<T>>).isEnding?.() === true
}
