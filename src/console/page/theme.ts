/** Light or dark: as the system has it, until a person chooses. The choice is no secret and stays in this browser. */
export type Theme = 'light' | 'dark'

const storageKey = 'aichat-theme'

/** Shows the page in the chosen theme. */
export function applyTheme(): void {
  const chosen = localStorage.getItem(storageKey)
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
}

/** The theme that is shown. */
export function shownTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Changes to the other theme and returns it. */
export function switchTheme(): Theme {
  const theme = shownTheme() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset['theme'] = theme
  localStorage.setItem(storageKey, theme)
  dispatchEvent(new Event(storageKey))
  return theme
}

/** Calls `onChange` when a person or the system changes the theme. Returns what ends that. */
export function watchTheme(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', onChange)
  addEventListener(storageKey, onChange)
  return () => {
    system.removeEventListener('change', onChange)
    removeEventListener(storageKey, onChange)
  }
}
