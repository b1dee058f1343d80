import type { AccountStore } from '../../accounts/users.ts'
import type { AdaptationStore } from '../../personas/adaptation/adaptations.ts'
import type { ConversationStore } from '../../personas/chat/conversation.ts'
import type { MemoryStore } from '../../personas/memory/memory.ts'
import type { ProposalStore } from '../../personas/memory/proposal.ts'
import type { PersonaArchive } from '../../personas/package/archive.ts'
import type { BackupStore } from '../../personas/package/backup-store.ts'
import type { PersonaStore } from '../../personas/persona.ts'
import type { Methods } from './lazy-store.ts'

interface MethodsOfStores {
  readonly accounts: Methods<AccountStore>
  readonly personas: Methods<PersonaStore>
  readonly memories: Methods<MemoryStore>
  readonly proposals: Methods<ProposalStore>
  readonly conversations: Methods<ConversationStore>
  readonly adaptations: Methods<AdaptationStore>
  readonly packages: Methods<PersonaArchive>
  readonly backups: Methods<BackupStore>
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
    rename: true,
    remove: true,
    end: true,
    unended: true,
  },
  adaptations: { read: true, append: true, findByKey: true, log: true },
  packages: { snapshot: true, extent: true, greeting: true, stage: true, dryRun: true, sweep: true },
  backups: { add: true, list: true, remove: true, isKnown: true },
}
