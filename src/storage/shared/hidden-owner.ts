/**
 * Large removals: one short write gives the rows an owner that is no user, which hides them at once, and the rows are
 * removed afterwards, some at a time.
 */
export const hiddenOwner = '~leaving'
