/** Carries the id of an installation to the providers that it asks: one that hears its own is asked by itself. */
export const hopHeader = 'x-aichat-hop'
