import type { ComponentType } from 'preact'
import type { IconName } from '../components/icon.tsx'
import type { ViewProps } from '../page/route.ts'
import { lazy } from './lazy.tsx'

/** A view: its name in the address, its title and icon in the navigation, and its component. */
export interface ViewEntry {
  readonly name: string
  readonly title: string
  readonly icon: IconName
  readonly View: ComponentType<ViewProps>
  /** Shown to administrators only: the server refuses others. */
  readonly isForAdmins?: true
}

/** The view of an address without one. */
export const firstView = 'now'

const views: readonly ViewEntry[] = [
  { name: 'now', title: 'Now', icon: 'now', View: lazy(async () => (await import('../views/now/now.tsx')).Now) },
  {
    name: 'chat',
    title: 'Chat',
    icon: 'send',
    View: lazy(async () => (await import('../views/chat/chat-view.tsx')).ChatView),
  },
  {
    name: 'personas',
    title: 'Personas',
    icon: 'persona',
    View: lazy(async () => (await import('../views/personas/personas.tsx')).Personas),
  },
  {
    name: 'usage',
    title: 'Usage',
    icon: 'usage',
    View: lazy(async () => (await import('../views/usage/usage.tsx')).Usage),
  },
  {
    name: 'plugins',
    title: 'Plugins',
    icon: 'plugin',
    View: lazy(async () => (await import('../views/plugins/plugins.tsx')).Plugins),
  },
  {
    name: 'voices',
    title: 'Voices',
    icon: 'voice',
    View: lazy(async () => (await import('../views/voices/voices.tsx')).Voices),
  },
  {
    name: 'users',
    title: 'Users',
    icon: 'users',
    isForAdmins: true,
    View: lazy(async () => (await import('../views/users/users.tsx')).Users),
  },
  {
    name: 'service',
    title: 'Service',
    icon: 'service',
    isForAdmins: true,
    View: lazy(async () => (await import('../views/service/service.tsx')).Service),
  },
  {
    name: 'audit',
    title: 'Audit',
    icon: 'audit',
    isForAdmins: true,
    View: lazy(async () => (await import('../views/audit/audit.tsx')).Audit),
  },
]

/** The views of a person. */
export function viewsFor(isAdmin: boolean): readonly ViewEntry[] {
  return views.filter(({ isForAdmins }) => isAdmin || !isForAdmins)
}
