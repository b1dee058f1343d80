import type { KeyStore } from '../../accounts/keys/store.ts'
import type { LoginFailureStore } from '../../accounts/login-failures.ts'
import type { AccountStore } from '../../accounts/users.ts'
import type { ResponseStore } from '../../chat/responses/store.ts'
import type { AdaptationStore } from '../../personas/adaptation/adaptations.ts'
import type { ConversationStore } from '../../personas/chat/conversation.ts'
import type { MemoryStore } from '../../personas/memory/memory.ts'
import type { ProposalStore } from '../../personas/memory/proposal.ts'
import type { PersonaArchive } from '../../personas/package/archive.ts'
import type { BackupFiles, BackupStore } from '../../personas/package/backup-store.ts'
import type { PersonaStore } from '../../personas/persona.ts'
import type { LedgerStore } from '../../usage/ledger/ledger.ts'
import type { LimitStore } from '../../usage/limits/store.ts'
import type { PriceStore } from '../../usage/prices/store.ts'
import type { Methods } from './lazy-store.ts'

interface MethodsOfStores {
  readonly accounts: Methods<AccountStore>
  readonly loginFailures: Methods<LoginFailureStore>
  readonly keys: Methods<KeyStore>
  readonly personas: Methods<PersonaStore>
  readonly memories: Methods<MemoryStore>
  readonly proposals: Methods<ProposalStore>
  readonly conversations: Methods<ConversationStore>
  readonly responses: Methods<ResponseStore>
  readonly adaptations: Methods<AdaptationStore>
  readonly packages: Methods<PersonaArchive>
  readonly backups: Methods<BackupStore>
  readonly backupFiles: Methods<BackupFiles>
  readonly ledger: Methods<LedgerStore>
  readonly prices: Methods<PriceStore>
  readonly limits: Methods<LimitStore>
}

/** The methods of each store, which are known before its module is loaded. */
export const methods: MethodsOfStores = {
  accounts: {
    isEmpty: true,
    insert: true,
    byId: true,
    byName: true,
    lookAlike: true,
    list: true,
    update: true,
    setPassword: true,
    rehash: true,
    remove: true,
    counts: true,
    administrator: true,
    openSession: true,
    session: true,
    closeSession: true,
    record: true,
    audit: true,
    pruneAudit: true,
  },
  loginFailures: { now: true, read: true, fail: true, forgive: true, subjectsOf: true, release: true },
  keys: {
    insert: true,
    find: true,
    list: true,
    update: true,
    rotate: true,
    revoke: true,
    revokeAll: true,
    countLive: true,
    unusedSince: true,
    byDigest: true,
    touch: true,
  },
  personas: { save: true, update: true, find: true, list: true, remove: true },
  memories: {
    add: true,
    get: true,
    edit: true,
    remove: true,
    list: true,
    categories: true,
    wipe: true,
    trim: true,
    clean: true,
    scopes: true,
    clear: true,
    search: true,
    pending: true,
    loreVersion: true,
    lore: true,
    putVectors: true,
    claimEmbedding: true,
    evictions: true,
  },
  proposals: { add: true, list: true, find: true, claim: true, settle: true, reject: true },
  conversations: {
    create: true,
    find: true,
    named: true,
    list: true,
    messages: true,
    append: true,
    keep: true,
    takeBack: true,
    files: true,
    recordMemories: true,
    rename: true,
    remove: true,
    removeBefore: true,
    search: true,
    end: true,
    unended: true,
  },
  responses: {
    add: true,
    finish: true,
    find: true,
    input: true,
    chain: true,
    items: true,
    events: true,
    remove: true,
    removeAll: true,
    extent: true,
    append: true,
    item: true,
    removeItem: true,
    describe: true,
    expire: true,
    orphans: true,
  },
  adaptations: { read: true, append: true, findByKey: true, log: true },
  packages: { snapshot: true, extent: true, greeting: true, stage: true, dryRun: true, sweep: true },
  backups: { add: true, list: true, remove: true, isKnown: true },
  backupFiles: {
    pending: true,
    keep: true,
    publish: true,
    discard: true,
    open: true,
    exchange: true,
    remove: true,
    sweep: true,
  },
  ledger: { append: true, sums: true, rows: true, check: true, prune: true },
  prices: { list: true, find: true, write: true },
  limits: {
    changes: true,
    set: true,
    change: true,
    remove: true,
    reserve: true,
    extend: true,
    cancel: true,
    spends: true,
    reset: true,
    orphans: true,
    windows: true,
    saveWindows: true,
    share: true,
    dropEnded: true,
  },
}
