/** Characters of a part, but for the rest of its last line. */
const partSize = 8000
/** Characters within which that line ends; a longer one is broken. */
const longestRest = 2000

/** A text as it is, in parts of which the browser lays out those in sight alone: megabytes do not hold the page up. */
export function PlainText({ text }: { readonly text: string }) {
  const parts = partsOf(text)
  // An index is the key: a text grows at its end alone.
  return (
    <>
      {parts.map((part, at) => (
        <p key={at} class={parts.length > 1 ? 'pre part' : 'pre'}>
          {part}
        </p>
      ))}
    </>
  )
}

/** The parts of a text; those before the last one stay as they are while it grows. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  while (text.length - start > partSize + longestRest) {
    const rest = text.slice(start + partSize, start + partSize + longestRest)
    const line = rest.indexOf('\n')
    const end = start + partSize + (line >= 0 ? line : Math.max(0, rest.indexOf(' ')))
    parts.push(text.slice(start, end))
    // The break between two parts stands for the end of the line.
    start = line >= 0 || text[end] === ' ' ? end + 1 : end
  }
  parts.push(text.slice(start))
  return parts
}
