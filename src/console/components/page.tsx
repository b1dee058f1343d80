import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

interface PageProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A view with its heading, which is also the title of the window. */
export function Page({ title, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – aichat`
  }, [title])
  return (
    <>
      <header class="page-head">
        <div>
          <h1 dir="auto">{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="buttons">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A part of a view with its own heading. */
export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="section">
      <header class="section-head">
        <h2>{title}</h2>
        {actions && <div class="buttons">{actions}</div>}
      </header>
      {children}
    </section>
  )
}
