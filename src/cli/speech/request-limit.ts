/** The longest text of one request, in characters: the servers' specification. */
export const requestLimit = 10_000
