/**
 * The page's secret, without which the cookie of the login cannot be opened: 32 random bytes in base64url. It lives in this
 * tab's session storage, survives a reload, and is worth nothing without the cookie, which no script can read. A further tab
 * asks the open ones for theirs, so that a person logs in once.
 */
const storageKey = 'aichat-console'

/** How long a tab waits for another one to answer: milliseconds. Open tabs answer within 5. */
const answerMs = 30

type Message =
  | { readonly kind: 'ask' | 'logged-out' }
  | { readonly kind: 'secret' | 'logged-in'; readonly secret: string }

const channel = new BroadcastChannel(storageKey)
const logOutListeners = new Set<() => void>()
const logInListeners = new Set<() => void>()
let current = sessionStorage.getItem(storageKey) ?? undefined

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'ask' && current !== undefined) tell({ kind: 'secret', secret: current })
  // An answer may come late, when the entrance is shown already. A login of another tab has replaced this one's in the cookie.
  if ((data.kind === 'secret' && current === undefined) || data.kind === 'logged-in') {
    keep(data.secret)
    for (const listener of logInListeners) listener()
  }
  if (data.kind === 'logged-out') for (const listener of logOutListeners) listener()
})

/** Whether this tab or another one has a secret: without one there is no login. */
export async function hasSecret(): Promise<boolean> {
  if (current === undefined) {
    tell({ kind: 'ask' })
    await new Promise((resolve) => setTimeout(resolve, answerMs))
  }
  return current !== undefined
}

/** The secret of this tab, while it has one. */
export function secret(): string | undefined {
  return current
}

/** Makes a secret for a login that begins, where there is none. */
export function beginSecret(): void {
  current ??= keep(toBase64Url(crypto.getRandomValues(new Uint8Array(32))))
}

/** Forgets the secret, and with it the login in this tab. */
export function forgetSecret(): void {
  current = undefined
  sessionStorage.removeItem(storageKey)
}

/** Tells the other tabs that a login has begun. */
export function tellLoggedIn(): void {
  if (current !== undefined) tell({ kind: 'logged-in', secret: current })
}

/** Calls back when another tab has logged in. */
export function onLogInElsewhere(listener: () => void): () => void {
  logInListeners.add(listener)
  return () => void logInListeners.delete(listener)
}

/** Tells the other tabs that the login has ended. */
export function tellLoggedOut(): void {
  tell({ kind: 'logged-out' })
}

/** Calls back when another tab has logged out. */
export function onLogOutElsewhere(listener: () => void): () => void {
  logOutListeners.add(listener)
  return () => void logOutListeners.delete(listener)
}

function keep(value: string): string {
  current = value
  sessionStorage.setItem(storageKey, value)
  return value
}

function tell(message: Message): void {
  channel.postMessage(message)
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
