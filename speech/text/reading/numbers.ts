/** The longest whole number that is read as one, in digits; longer ones are read digit by digit. */
export const longestNumber = 15

/** Divides a number into its groups of thousands, the highest first, each with the power that it counts. */
export function groupsOf(value: number): readonly (readonly [count: number, power: number])[] {
  const groups: [number, number][] = []
  for (let power = 0, rest = value; rest > 0; power++, rest = Math.floor(rest / 1000))
    if (rest % 1000 > 0) groups.unshift([rest % 1000, power])
  return groups
}

/** The words of each digit, one behind the other. */
export function digitWords(digits: string, cardinal: (value: number) => string): string {
  return [...digits].map((digit) => cardinal(Number(digit))).join(' ')
}

/** The value of a Roman numeral; undefined for other letters and for a way of writing that nobody uses. */
export function romanValue(letters: string): number | undefined {
  if (!/^(?=.)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/.test(letters)) return undefined
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }
  return [...letters].reduce((sum, letter, index) => {
    const value = values[letter]!
    return (values[letters[index + 1] ?? ''] ?? 0) > value ? sum - value : sum + value
  }, 0)
}
