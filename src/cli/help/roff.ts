/** Escapes text for roff: backslashes, dashes, and a dot or quote at the start of a line, which would begin a request. */
export function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replace(/^([.'])/gm, '\\&$1')
    .replaceAll('…', '\\&...')
    .replaceAll('--', '\\-\\-')
}
