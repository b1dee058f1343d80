/** The parts of a `data:` URL with base64 (RFC 2397), or undefined for any other address. */
export function parseDataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const comma = url.slice(0, 300).indexOf(',')
  const found = comma === -1 ? null : /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(url.slice(0, comma))
  return found ? { mediaType: found[1] || 'text/plain', data: url.slice(comma + 1) } : undefined
}

/** A `data:` URL with base64. */
export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`
}
