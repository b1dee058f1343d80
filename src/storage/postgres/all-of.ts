/** The results of all; rejects as the first of them does, but not before the others have ended. */
export async function allOf<const P extends readonly Promise<unknown>[]>(
  running: P,
): Promise<{ -readonly [K in keyof P]: Awaited<P[K]> }> {
  try {
    return await Promise.all(running)
  } catch (reason) {
    await Promise.allSettled(running)
    throw reason
  }
}
