import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { memorySettingsOf, type Persona, scopeOf } from '../persona.ts'
import type { Memories, MemoryView } from './memories.ts'
import { conversationOf, speakerOf } from './memory.ts'
import { mostProposals, type NewProposal, type Proposal, type ProposalStatus, type ProposalStore } from './proposal.ts'

/** A fact to propose, and the memory with the words that it is taken from. */
export type Fact = Pick<NewProposal, 'content' | 'confidence' | 'model' | 'memory_id'>

/** Facts that wait to be accepted as memories. An unknown one is `not_found`, one that is decided already `invalid`. */
export interface Proposals {
  /** Newest first. */
  list(
    persona: Persona,
    options: { readonly status: ProposalStatus; readonly limit: number; readonly offset: number },
  ): Promise<{ readonly proposals: readonly Proposal[]; readonly total: number }>
  get(persona: Persona, id: string): Promise<Proposal>
  /** Makes it a memory beside its source, with its time, speaker and conversation; of two calls at once one does. */
  accept(persona: Persona, id: string): Promise<{ readonly proposal: Proposal; readonly memory: MemoryView }>
  /** Rejects it: the same fact is not proposed again. */
  reject(persona: Persona, id: string): Promise<Proposal>
  /**
   * Proposes facts, but for known ones; where the persona's settings say so, accepts those of which the model is sure enough.
   */
  offer(persona: Persona, facts: readonly Fact[]): Promise<void>
}

export interface ProposalsParts {
  readonly store: ProposalStore
  readonly memories: Pick<Memories, 'add' | 'get' | 'search'>
  readonly clock: () => number
}

export function createProposals({ store, memories, clock }: ProposalsParts): Proposals {
  return {
    list: (persona, options) => store.list(scopeOf(persona), { ...options, now: clock() }),
    get: found,
    accept,
    async reject(persona, id) {
      const proposal = await found(persona, id)
      if (!(await store.reject(scopeOf(persona), id, clock()))) throw decided(await found(persona, id))
      return { ...proposal, status: 'rejected' }
    },
    async offer(persona, facts) {
      const fresh: NewProposal[] = []
      for (const fact of facts)
        if (!(await isRemembered(persona, fact.content))) fresh.push({ ...fact, id: randomUUID(), created_at: clock() })
      const added = new Set(await store.add(scopeOf(persona), fresh, mostProposals))
      const { extract, extract_min_confidence: least } = memorySettingsOf(persona)
      if (extract !== 'auto') return
      for (const { id, confidence } of fresh) if (added.has(id) && confidence >= least) await accept(persona, id)
    },
  }

  async function found(persona: Persona, id: string): Promise<Proposal> {
    const proposal = await store.find(scopeOf(persona), id, clock())
    if (proposal) return proposal
    throw new AppError('not_found', `Proposal "${id}" not found`, {
      details: ['`aichat persona memory proposals list` shows the ids of a persona; a proposal goes with its source'],
    })
  }

  async function accept(persona: Persona, id: string) {
    const proposal = await found(persona, id)
    const scope = scopeOf(persona)
    if (!(await store.claim(scope, id, clock()))) throw decided(await found(persona, id))
    try {
      const { memory_id, content, model } = proposal
      const source = await memories.get(persona, memory_id)
      const [speaker, conversation] = [speakerOf(source.metadata), conversationOf(source.metadata)]
      const { memory } = await memories.add(persona, {
        content,
        importance_score: 0.5,
        timestamp: source.timestamp,
        metadata: {
          source: 'extract',
          extracted_from: memory_id,
          extracted_by: model,
          ...(speaker !== '' && { speaker }),
          ...(conversation !== '' && { conversation }),
        },
      })
      await store.settle(scope, id, memory.id)
      return { proposal: { ...proposal, status: 'accepted' as const, accepted_as: memory.id }, memory }
    } catch (reason) {
      await store.settle(scope, id, undefined)
      throw reason
    }
  }

  /** Whether a memory says the same in the same words: to store it again would renew that one and take its labels. */
  async function isRemembered(persona: Persona, content: string): Promise<boolean> {
    const { hits } = await memories.search(persona, { query: content, limit: 3 })
    return hits.some(({ entry }) => entry.content.toLowerCase() === content.toLowerCase())
  }
}

function decided({ id, status }: Proposal): AppError {
  return new AppError('invalid', `The proposal "${id}" is ${status} already`)
}
