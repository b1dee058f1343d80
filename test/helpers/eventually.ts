import { setTimeout as delay } from 'node:timers/promises'

/** Asks until there is an answer, with pauses that leave the cores to what is waited for. The runner bounds a file's time. */
export async function eventually<R>(ask: () => R | undefined | Promise<R | undefined>): Promise<R> {
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    await delay(10)
  }
}

/** Asks until it is so, in the same way. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => (await isSo()) || undefined)
}
