import type { ViewProps } from '../../page/route.ts'
import { PersonaList } from './persona-list.tsx'
import { PersonaPage } from './persona-page.tsx'

/** The list of personas, or one of them. */
export function Personas({ route }: ViewProps) {
  const [id, part = 'chat', detail] = route.rest
  if (id === undefined) return <PersonaList />
  return <PersonaPage key={id} id={id} part={part} detail={detail} route={route} />
}
