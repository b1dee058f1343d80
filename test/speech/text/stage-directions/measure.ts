import { sanitize } from '../../../../speech/text/sanitize.ts'

/** Where an aside can stand: the sentence around it, and the place where it goes. */
const frames = {
  front: ['', ' You never told me that.'],
  middle: ['You never', ' told me that.'],
  end: ['You never told me that', '.'],
  after: ['You never told me that.', ''],
} as const

export type Position = keyof typeof frames

export const positions = Object.keys(frames) as readonly Position[]

/** The items that are not removed from the sentence at a place; each has its parentheses, brackets or asterisks. */
export function spoken(items: readonly string[], position: Position): readonly string[] {
  const [before, after] = frames[position]
  const silent = before === '' ? after.trim() : before + after
  return items.filter((item) => sanitize(`${before}${before && ' '}${item}${after}`) !== silent)
}

/** The items that lose words of theirs at a place. */
export function lost(items: readonly string[], position: Position): readonly string[] {
  const [before, after] = frames[position]
  return items.filter((item) => {
    const words = item.match(/[\p{L}\p{N}]+/gu) ?? []
    const said = sanitize(`${before}${before && ' '}${item}${after}`)
    return said.match(/[\p{L}\p{N}]+/gu)!.length < words.length + (before + after).match(/\w+/g)!.length
  })
}

/** Items between bars, with the spaces of their layout taken away. */
export function lines(text: string): readonly string[] {
  return text
    .split('|')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
}

/** Every other item, from the first on, or from the second. */
export function half(items: readonly string[], first: 0 | 1): readonly string[] {
  return items.filter((_, index) => index % 2 === first)
}
