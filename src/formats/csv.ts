/** A cell of a CSV file; null is an empty one. */
export type CsvCell = string | number | boolean | null | undefined

/**
 * A line of a CSV file (RFC 4180), with its line end. A text that a spreadsheet would read as a formula, since it begins with
 * = + - @, a tab or a carriage return, gets a ' before it (https://owasp.org/www-community/attacks/CSV_Injection).
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: CsvCell): string {
  if (cell == null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
