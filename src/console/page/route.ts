import { useEffect, useMemo, useState } from 'preact/hooks'

/** The place in the console, from the part of the address after `#`: `#/personas/ID/memories?q=tea`. */
export interface Route {
  readonly view: string
  /** The decoded parts after the view. */
  readonly rest: readonly string[]
  readonly query: URLSearchParams
}

export interface ViewProps {
  readonly route: Route
}

/** The present route: another object after each step to a place, also where it has the same address as before. */
export function useRoute(): Route {
  const [step, setStep] = useState({ hash: location.hash })
  useEffect(() => {
    const follow = () => setStep({ hash: location.hash })
    addEventListener('hashchange', follow)
    // The address may have changed since the first drawing.
    if (location.hash !== step.hash) follow()
    return () => removeEventListener('hashchange', follow)
  }, [])
  return useMemo(() => routeOf(step.hash), [step])
}

/** Reads the address after `#`; anything unknown is the first view. */
function routeOf(hash: string): Route {
  const [place = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view = '', ...rest] = place.split('/').map(decoded)
  return { view, rest: rest.filter((part) => part !== ''), query: new URLSearchParams(search) }
}

/** The link to a place: `linkTo('personas', id, 'memories')`. */
export function linkTo(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

/** The link to a place that reads fields of its address, such as the filters of a list; empty ones are left out. */
export function linkWith(query: Readonly<Record<string, string | number>>, ...parts: readonly string[]): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return `${linkTo(...parts)}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** Goes to a place. */
export function goTo(...parts: readonly string[]): void {
  location.hash = linkTo(...parts)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
