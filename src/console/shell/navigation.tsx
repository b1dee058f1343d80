import { useState } from 'preact/hooks'
import { Brand } from '../components/brand.tsx'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { linkTo } from '../page/route.ts'
import { useSession } from '../page/session.ts'
import { shownTheme, switchTheme } from '../page/theme.ts'
import { PasswordDialog } from '../views/entrance/password-dialog.tsx'
import { logOut } from '../wire/account.ts'
import { useAction } from '../wire/use-action.ts'
import type { ViewEntry } from './views.tsx'

interface NavigationProps {
  readonly views: readonly ViewEntry[]
  readonly current: string
  readonly onSearch: () => void
}

/** The links to the views, and the user's own items: name, theme, password, logout. */
export function Navigation({ views, current, onSearch }: NavigationProps) {
  const { me, leave } = useSession()
  const [theme, setTheme] = useState(shownTheme())
  const [asksPassword, setAsksPassword] = useState(me.must_change_password)
  const out = useAction(async () => {
    await logOut()
    leave()
  })
  return (
    <header class="side">
      <a class="brand" href={linkTo(views[0]!.name)}>
        <Brand />
      </a>
      <nav aria-label="Views">
        {views.map(({ name, title, icon }) => (
          <a key={name} href={linkTo(name)} aria-current={name === current ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{title}</span>
          </a>
        ))}
      </nav>
      <div class="side-foot">
        <p class="who">
          <strong dir="auto">{me.username}</strong>
          <span>{me.role === 'admin' ? 'administrator' : 'user'}</span>
        </p>
        <Button kind="quiet" icon="search" label="Go to … (Ctrl K)" onClick={onSearch} />
        <Button
          kind="quiet"
          icon="sun"
          label={theme === 'dark' ? 'Light colours' : 'Dark colours'}
          onClick={() => setTheme(switchTheme())}
        />
        <Button kind="quiet" icon="lock" label="Change the password" onClick={() => setAsksPassword(true)} />
        <Button kind="quiet" icon="leave" label="Log out" isBusy={out.isRunning} onClick={() => void out.run()} />
      </div>
      {asksPassword && <PasswordDialog isForced={me.must_change_password} onClose={() => setAsksPassword(false)} />}
    </header>
  )
}
