/** Counts the files that personas were imported from, for the metrics of a service. */
export function createImportCounts() {
  const formats = new Map<string, number>()
  let failed = 0
  let underWay = 0
  return {
    /** Runs an import, and counts it by the format that it reports; one that throws has failed. */
    async counted<T extends { readonly format: string }>(work: () => Promise<T>): Promise<T> {
      underWay++
      try {
        const result = await work()
        formats.set(result.format, (formats.get(result.format) ?? 0) + 1)
        return result
      } catch (reason) {
        failed++
        throw reason
      } finally {
        underWay--
      }
    },
    get underWay(): number {
      return underWay
    },
    list: () => [
      ...[...formats].map(([format, count]) => ({ format, outcome: 'answered' as const, count })),
      // The format of a file that could not be read is not known.
      { format: 'unknown', outcome: 'failed' as const, count: failed },
    ],
  }
}
