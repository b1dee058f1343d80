/** An item of a conversation as it stands on the wire of the Responses API. */
export interface Item {
  readonly type?: string
  readonly id?: string
  readonly [field: string]: unknown
}

export interface ResponseObject {
  readonly id: string
  readonly status: string
  readonly output: readonly Item[]
  readonly [field: string]: unknown
}

/** Reads kept responses: a login all of its user's, an API key those alone that were made with it. */
export interface Reader {
  readonly owner: string
  readonly key?: string | undefined
}

export interface NewResponse {
  readonly owner: string
  readonly key?: string | undefined
  readonly previous?: string | undefined
  readonly response: ResponseObject
  /** Its own input, without that of previous responses; each item has an id. */
  readonly input: readonly Item[]
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
  /** Whether this process still works on it; its output is empty then. */
  readonly unfinished?: true
  /** Added to its conversation at the same time, where that is still there. */
  readonly appended?: Appended | undefined
}

/** Items that a client adds to a conversation. */
export interface NewItems {
  readonly items: readonly Item[]
  /** Milliseconds since 1970 UTC. */
  readonly at: number
  /** The most that the conversation may hold then. */
  readonly most: { readonly items: number; readonly bytes: number }
}

export interface KeptResponse {
  readonly response: ResponseObject
  /** False for one in the background that is neither answered, failed nor cancelled. */
  readonly finished: boolean
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
}

/** What a finished response adds to a conversation: its input and its output. */
export interface Appended {
  readonly conversation: string
  readonly items: readonly Item[]
}

/** The most that a user's kept responses may be; the least recently continued go first. A conversation counts as one. */
export interface ResponseBounds {
  readonly responses: number
  /** Bytes of their JSON. */
  readonly bytes: number
}

export interface ReadBounds {
  /** Bytes of JSON. */
  readonly bytes: number
  /** Called with the bytes as they are read, or before; throws to have no more read. */
  readonly charge?: ((bytes: number) => void) | undefined
}

/** The most that is read behind a previous response. */
export interface ChainBounds extends ReadBounds {
  readonly responses: number
  readonly items: number
}

/** A conversation up to a response. */
export interface Chain {
  readonly items: readonly Item[]
  /** The id of its first response. */
  readonly first: string
}

/** Why there is no chain: one of its responses is absent, the last is not finished, or it is too long. */
export type NoChain = 'absent' | 'unfinished' | 'too_long'

export interface ItemPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id of the item before the page. */
  readonly after?: string | undefined
}

/**
 * Keeps responses. Those that continue each other are a thread, which is kept as long as one of its responses: `since`
 * is the time, in milliseconds since 1970 UTC, from which on a response may have been made; an older one counts as
 * absent, as does one of another reader, but is still read behind a later one of its thread.
 *
 * A conversation is kept as a response that continues none: its items are the input, to which later ones are added, and each
 * change counts as its making. It is added, found, paged, read as a chain and removed as one.
 */
export interface ResponseStore {
  /** Removes the least recently continued threads above the bounds. A power cut may take the response back. */
  add(response: NewResponse, bounds: ResponseBounds): Promise<void>
  /** Replaces an unfinished response by its end; false when it is gone or has ended before. */
  finish(owner: string, response: ResponseObject, appended?: Appended): Promise<boolean>
  find(reader: Reader, id: string, since: number): Promise<KeptResponse | undefined>
  /** A page of a response's own input; undefined when the response is absent or `after` is none of its items. */
  input(
    reader: Reader,
    id: string,
    since: number,
    page: ItemPage,
  ): Promise<{ readonly items: readonly Item[]; readonly more: boolean } | undefined>
  /**
   * The items of a response and of all before it, input before output, the oldest first. It is `absent` also where one of them
   * was removed.
   */
  chain(reader: Reader, id: string, since: number, bounds: ChainBounds): Promise<Chain | NoChain>
  /** The newest item of each id; unknown ids are left out. */
  items(
    reader: Reader,
    ids: readonly string[],
    since: number,
    bounds: ReadBounds,
  ): Promise<ReadonlyMap<string, Item> | 'too_long'>
  remove(reader: Reader, id: string): Promise<boolean>
  /** Removes all of an owner's; resolves with their number. */
  removeAll(owner: string): Promise<number>
  /** How many an owner has, and their bytes. */
  extent(owner: string): Promise<ResponseBounds>
  /** Adds items to a conversation within its owner's bounds; resolves with them, each with an id of its own. */
  append(
    reader: Reader,
    id: string,
    since: number,
    added: NewItems,
    bounds: ResponseBounds,
  ): Promise<readonly Item[] | 'absent' | 'too_long'>
  item(reader: Reader, id: string, since: number, item: string): Promise<Item | undefined>
  /** Removes one item of a conversation; false where either is absent. */
  removeItem(reader: Reader, id: string, since: number, item: string): Promise<boolean>
  /** Replaces the fields of a conversation, not its items, at a time; false where it is absent. */
  describe(reader: Reader, response: ResponseObject, since: number, at: number): Promise<boolean>
  /** Removes threads without a response from this time or later. */
  expire(since: number): Promise<void>
  /**
   * Unfinished responses of processes that have ended, and of any other process from before a time: one in another
   * container cannot be seen.
   */
  orphans(before: number): Promise<readonly { readonly owner: string; readonly response: ResponseObject }[]>
}
