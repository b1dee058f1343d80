const segmenter = new Intl.Segmenter()

/** Segments a part of a long text: a grapheme is shorter than this, in UTF-16 units, but for made-up ones. */
const window = 256

/** The place behind the grapheme at a place, in UTF-16 units. */
export function afterGrapheme(text: string, at: number): number {
  const [first] = segmenter.segment(text.slice(at, at + window))
  return at + (first?.segment.length ?? 0)
}

/** The place before the grapheme that ends at a place. */
export function beforeGrapheme(text: string, at: number): number {
  // Segments from the beginning of the line on, since a grapheme depends on the text before it.
  const from = Math.max(text.lastIndexOf('\n', at - 2) + 1, at - window, 0)
  const last = Array.from(segmenter.segment(text.slice(from, at))).at(-1)
  return at - (last?.segment.length ?? 0)
}
