import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'bad' | 'warning' | 'busy' | 'plain'

/** A state in a word; the colour only repeats it. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
