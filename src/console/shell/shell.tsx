import { useEffect, useRef, useState } from 'preact/hooks'
import { Toasts } from '../components/toasts.tsx'
import { useRoute } from '../page/route.ts'
import { useSession } from '../page/session.ts'
import { lazy } from './lazy.tsx'
import { Navigation } from './navigation.tsx'
import { firstView, viewsFor } from './views.tsx'

const Palette = lazy(async () => (await import('./palette.tsx')).Palette)

/** The navigation, and the view that the address names. */
export function Shell() {
  const { isAdmin } = useSession()
  const route = useRoute()
  const views = viewsFor(isAdmin)
  const { name, View } = views.find(({ name }) => name === route.view) ?? views.find(({ name }) => name === firstView)!
  const main = useRef<HTMLElement>(null)
  const isStart = useRef(true)
  const [isSearching, setSearching] = useState(false)
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      // A dialog that is open may hold what a person typed.
      if (!document.querySelector('dialog[open]')) setSearching(true)
    }
    addEventListener('keydown', open)
    return () => removeEventListener('keydown', open)
  }, [])
  useEffect(() => {
    // A person with a screen reader hears the new view; at the start the page itself is read.
    if (!isStart.current) main.current?.focus({ preventScroll: true })
    isStart.current = false
    scrollTo(0, 0)
  }, [name, route.rest.join('/')])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Navigation views={views} current={name} onSearch={() => setSearching(true)} />
      <main id="main" ref={main} tabIndex={-1}>
        <View key={name} route={route} />
      </main>
      {isSearching && <Palette views={views} onClose={() => setSearching(false)} />}
      <Toasts />
    </div>
  )
}
