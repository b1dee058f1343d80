/** The value of a field in each row; of several fields, the list of their values in each. */
export function pluck<T extends object, K extends keyof T>(rows: readonly T[], field: K): T[K][]
export function pluck<T extends object>(rows: readonly T[], ...fields: (keyof T)[]): T[keyof T][][]
export function pluck<T extends object>(rows: readonly T[], ...fields: (keyof T)[]): unknown[] {
  return rows.map((row) => (fields.length === 1 ? row[fields[0]!] : fields.map((field) => row[field])))
}
