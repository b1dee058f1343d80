/** Raised with every change of the tables, indexes and triggers of either database. */
const schemaVersion = 9

/** The name of the present schema, which a database keeps. */
export const schemaName = nameOf(schemaVersion)

function nameOf(version: number): string {
  return `schema-${version}`
}

/**
 * The changes by which builds before `schema-1` made the schema, one after another. A database that lacks some of them, or the
 * present schema, is brought up when it is opened; any other name is of a newer build.
 */
export const earlierChanges = (
  'accounts-1 accounts-2 accounts-3 adaptations-1 adaptations-2 backups-1 changes-1 conversations-1 conversations-2 ' +
  'conversations-3 conversations-4 conversations-5 embedding-claims-1 installation-1 keys-1 ledger-1 limits-1 ' +
  'login-failures-1 lore-1 memories-1 memories-2 memories-3 memories-4 memories-5 packages-1 personas-1 plugins-1 prices-1 ' +
  'proposals-1 responses-1 revisions-1 seals-1 sketches-1 usage-1'
).split(' ')

const knownNames = new Set([...earlierChanges, ...Array.from({ length: schemaVersion }, (_, at) => nameOf(at + 1))])

/** Those names that only a newer build knows. */
export function unknownTo(applied: Iterable<string>): readonly string[] {
  return [...applied].filter((name) => !knownNames.has(name))
}
