import type { ComponentChildren } from 'preact'
import { timeOfDay } from '../page/format.ts'
import type { Refused } from '../wire/client.ts'
import { Icon } from './icon.tsx'

/** A failure where it happened: the sentence of the API, and its details; in another look where an earlier answer is still shown. */
export function Problem({ of }: { readonly of: Refused | undefined }) {
  if (!of) return null
  if (of.code === 'slow' && of.shownFrom === undefined) return <Loading />
  return (
    <div class={`notice ${of.shownFrom === undefined ? 'bad' : 'stale'}`} role="alert">
      <Icon name="warning" />
      <div>
        <strong dir="auto">{of.message}</strong>
        {of.shownFrom !== undefined && (
          <p>{`What is shown is from ${timeOfDay(of.shownFrom)} and may be out of date.`}</p>
        )}
        {of.details.length > 0 && (
          <ul>
            {of.details.map((line) => (
              <li key={line} dir="auto">
                {line}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

/** A remark next to the content. */
export function Notice({
  kind = 'info',
  children,
}: {
  readonly kind?: 'info' | 'good' | 'warning'
  readonly children: ComponentChildren
}) {
  return (
    <div class={`notice ${kind}`} role="status">
      <Icon name={kind === 'good' ? 'check' : kind === 'warning' ? 'warning' : 'more'} />
      <div>{children}</div>
    </div>
  )
}

/** A placeholder for an empty list, with the next step. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

/** Stands for content that is on its way. */
export function Loading() {
  return (
    <p class="loading muted" role="status">
      Loading …
    </p>
  )
}
