/** A text in pieces and then whole: says what the whole has beyond the pieces, and whether it contradicts them. */
export class ToldText {
  /** All that was delivered. */
  text = ''
  /** Whether a whole text was another than the pieces: they went out, and cannot be taken back. */
  isContradicted = false
  readonly #separator: string
  #part: number | undefined
  /** Where in the text the part begins. */
  #begin = 0
  #isPartDone = false

  /** `separator` goes between the texts of two parts. */
  constructor(separator = '') {
    this.#separator = separator
  }

  /** Ends the part: the next piece begins another. */
  endPart(): void {
    this.#isPartDone = true
  }

  /** Takes a piece; returns the text to deliver. */
  add(piece: string, part: number | undefined): string {
    if (piece === '') return ''
    const before = this.#begun(part)
    this.text += before + piece
    return before + piece
  }

  /** Takes the whole text of a part; returns the text to deliver. One of an earlier part is left to that of the item. */
  endsPart(whole: string, part: number | undefined): string {
    if (part === undefined || (this.#part !== undefined && part < this.#part)) return ''
    if (part !== this.#part) {
      const rest = this.add(whole, part)
      this.#isPartDone = true
      return rest
    }
    this.#isPartDone = true
    return this.#restOf(whole, this.text.slice(this.#begin))
  }

  /** Takes the whole text of the item; returns the text to deliver. */
  ends(whole: string): string {
    return this.#restOf(whole, this.text)
  }

  #restOf(whole: string, delivered: string): string {
    // A service that leaves the text out of its last events takes nothing back.
    if (whole === '' || whole === delivered) return ''
    if (!whole.startsWith(delivered)) {
      this.isContradicted = true
      return ''
    }
    const rest = whole.slice(delivered.length)
    this.text += rest
    return rest
  }

  #begun(part: number | undefined): string {
    const isNew = this.#isPartDone || (part !== undefined && part !== this.#part)
    if (!isNew) return ''
    this.#part = part
    this.#isPartDone = false
    const before = this.text === '' ? '' : this.#separator
    this.#begin = this.text.length + before.length
    return before
  }
}
