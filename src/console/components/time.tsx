import { ago, dateTime } from '../page/format.ts'

/** A moment as a distance from now, with the whole date and time in its tooltip. */
export function Time({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
      {ago(at)}
    </time>
  )
}
