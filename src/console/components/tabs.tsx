interface TabsProps {
  readonly label: string
  readonly tabs: readonly (readonly [link: string, name: string, isCurrent: boolean])[]
}

/** Links to the parts of a view. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([link, name, isCurrent]) => (
        <a key={link} href={link} aria-current={isCurrent ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}
