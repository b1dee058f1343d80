import { type AskOptions, send } from './client.ts'

/** Asks the API for a file and offers it for saving. Throws `Refused`. */
export async function save(
  method: 'GET' | 'POST',
  path: string,
  fallbackName: string,
  options: AskOptions = {},
): Promise<void> {
  const response = await send(method, path, options)
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? fallbackName
  saveBlob(await response.blob(), name)
}

/** Offers bytes for saving under a name. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the address over by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
