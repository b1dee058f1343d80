/** Files and sessions that a model opens one after the other and closes together. */

interface Resource {
  close(): Promise<void>
}

export interface OpenedResources {
  /** Remembers a resource and returns it. */
  keep<T extends Resource>(resource: T): T
  /** Closes one before the others. */
  release(resource: Resource): Promise<void>
  /** Closes all, the last one first. */
  close(): Promise<void>
}

export function createOpenedResources(): OpenedResources {
  const opened: Resource[] = []
  return {
    keep(resource) {
      opened.push(resource)
      return resource
    },
    async release(resource) {
      opened.splice(opened.indexOf(resource), 1)
      await resource.close()
    },
    async close() {
      for (const resource of opened.splice(0).reverse()) await resource.close()
    },
  }
}
