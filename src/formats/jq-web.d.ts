/** jq, compiled to WebAssembly; the package has no types of its own. */
declare module 'jq-web' {
  interface Jq {
    /** Returns jq's stdout. Throws an Error with `exitCode` and `stderr` where jq fails. */
    raw(json: string, filter: string, flags?: string[]): string | undefined
  }
  const loaded: Promise<Jq>
  export = loaded
}
