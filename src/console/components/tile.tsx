import type { ComponentChildren } from 'preact'

interface TileProps {
  readonly name: ComponentChildren
  readonly figure: ComponentChildren
  readonly note?: ComponentChildren
  readonly children?: ComponentChildren
}

/** A number or state with its name and a remark; children stand below them. */
export function Tile({ name, figure, note, children }: TileProps) {
  return (
    <div class="tile">
      <p class="name">{name}</p>
      <p class="figure" dir="auto">
        {figure}
      </p>
      {note !== undefined && <p class="muted text">{note}</p>}
      {children}
    </div>
  )
}
