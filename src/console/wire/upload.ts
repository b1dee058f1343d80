import { Refused, refusalIn } from './client.ts'
import { secret } from './secret.ts'

/**
 * Sends a file and tells how much of it has been sent, from 0 to 1: fetch does not tell that. Throws `Refused`; aborting the
 * signal ends it.
 */
export function upload<T>(
  path: string,
  file: Blob,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    request.responseType = 'json'
    request.setRequestHeader('x-aichat-console', secret() ?? '')
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1))
    request.addEventListener('load', () => {
      if (request.status < 400) resolve(request.response as T)
      else reject(refusalIn(request.status, request.response))
    })
    request.addEventListener('error', () => reject(new Refused(0, { error: 'The server does not answer' })))
    request.addEventListener('abort', () => reject(new Refused(0, { error: 'The upload was stopped' })))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
