/** The only importer of keytar: a process that does a few requests with the keychain, answers, and ends. */

export type KeychainAction =
  | { readonly action: 'get' | 'remove'; readonly service: string; readonly account: string }
  | { readonly action: 'set'; readonly service: string; readonly account: string; readonly secret: string }

export interface KeychainResult {
  readonly results: readonly (string | boolean | null)[]
  /** Why it did not work; the results are then of no use. */
  readonly problem?: string
}

process.once('message', (requests: readonly KeychainAction[]) => {
  void work(requests).then((done) => process.send?.(done, undefined, {}, () => process.disconnect()))
})

async function work(requests: readonly KeychainAction[]): Promise<KeychainResult> {
  try {
    const { default: keytar } = await import('keytar')
    const results: (string | boolean | null)[] = []
    for (const request of requests) {
      if (request.action === 'set') {
        await keytar.setPassword(request.service, request.account, request.secret)
        results.push(null)
      } else if (request.action === 'get') results.push(await keytar.getPassword(request.service, request.account))
      else results.push(await keytar.deletePassword(request.service, request.account))
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
