/** The only importer of keytar: a process that does a few requests in their order, answers, and ends. */
import { serveTask } from '../process/process.ts'

export type KeychainAction =
  | { readonly action: 'get' | 'remove'; readonly service: string; readonly account: string }
  | { readonly action: 'set'; readonly service: string; readonly account: string; readonly secret: string }

/** The secret or null of a `get`, null of a `set`, and whether a `remove` found one. */
export type KeychainResult = string | boolean | null

serveTask(async (requests: readonly KeychainAction[]): Promise<readonly KeychainResult[]> => {
  const { default: keytar } = await import('keytar')
  const results: KeychainResult[] = []
  for (const request of requests) {
    const { action, service, account } = request
    if (action === 'set') {
      await keytar.setPassword(service, account, request.secret)
      results.push(null)
    } else if (action === 'get') results.push(await keytar.getPassword(service, account))
    else results.push(await keytar.deletePassword(service, account))
  }
  return results
})
