/** The only importer of keytar: a process that does a few deeds with the keychain, answers, and ends. */

export type Deed =
  | { readonly deed: 'get' | 'remove'; readonly service: string; readonly account: string }
  | { readonly deed: 'set'; readonly service: string; readonly account: string; readonly secret: string }

export interface Done {
  readonly results: readonly (string | boolean | null)[]
  /** Why it did not work; the results are then of no use. */
  readonly problem?: string
}

process.once('message', (deeds: readonly Deed[]) => {
  void work(deeds).then((done) => process.send?.(done, undefined, {}, () => process.disconnect()))
})

async function work(deeds: readonly Deed[]): Promise<Done> {
  try {
    const { default: keytar } = await import('keytar')
    const results: (string | boolean | null)[] = []
    for (const deed of deeds) {
      if (deed.deed === 'set') {
        await keytar.setPassword(deed.service, deed.account, deed.secret)
        results.push(null)
      } else if (deed.deed === 'get') results.push(await keytar.getPassword(deed.service, deed.account))
      else results.push(await keytar.deletePassword(deed.service, deed.account))
    }
    return { results }
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : 'unknown reason'
    // keytar's own words list the places where it looked.
    const missing =
      /native addon/.test(message) && 'its native library does not load here (on Linux it needs libsecret)'
    return { results: [], problem: missing || message }
  }
}
