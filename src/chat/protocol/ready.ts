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

/** The items of an iteration, each changed, and `last` behind them. An iterator by hand: a generator makes three promises of every item. */
export class ChangedItems<T> implements ReadyIterator<T> {
  readonly #items: AsyncIterator<T>
  readonly #change: (item: T) => T
  readonly #last: () => T | undefined
  #isOver = false

  constructor(items: AsyncIterable<T>, change: (item: T) => T, last: () => T | undefined = () => undefined) {
    this.#items = items[Symbol.asyncIterator]()
    this.#change = change
    this.#last = last
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  ready(): T | undefined {
    const item = readyIn(this.#items)
    return item === undefined ? undefined : this.#change(item)
  }

  isEnding(): boolean {
    return isEnding(this.#items)
  }

  async next(): Promise<IteratorResult<T>> {
    const next = await this.#items.next()
    if (!next.done) return { done: false, value: this.#change(next.value) }
    const last = this.#isOver ? undefined : this.#last()
    this.#isOver = true
    return last === undefined ? next : { done: false, value: last }
  }

  async return(): Promise<IteratorResult<T>> {
    await this.#items.return?.()
    return { done: true, value: undefined }
  }
}

/** The next item of an iteration, where it is one of these and has it already. */
export function readyIn<T>(items: AsyncIterable<T> | AsyncIterator<T>): T | undefined {
  return (items as Partial<ReadyIterator<T>>).ready?.()
}

/** Whether an iteration is one of these and its end has come. */
export function isEnding<T>(items: AsyncIterable<T> | AsyncIterator<T>): boolean {
  return (items as Partial<ReadyIterator<T>>).isEnding?.() === true
}
