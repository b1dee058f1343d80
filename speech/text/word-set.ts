/** The set of the words in a text of words and white space. */
export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
