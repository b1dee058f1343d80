/**
 * Compiles a pattern in which `*` stands for any characters, also none. Takes time in proportion to pattern times text at
 * the most, also for hostile patterns such as `*a*a*a*b`, which a regular expression would try for years.
 */
export function globOf(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    // The leftmost place of each part leaves the most room for the parts behind it.
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= text.length - last.length
  }
}
