import { canonicalize } from '../../formats/formats.ts'
import type { AdaptationRecord } from '../adaptation/log.ts'
import { chainCheck } from '../adaptation/log.ts'
import { fold } from '../adaptation/replay.ts'
import { type Learned, viewLearned } from '../adaptation/state.ts'
import type { PersonaSnapshot } from './archive.ts'
import { ContentHash, checksumOf, isFiniteVector } from './digest.ts'
import { type PackageContent, packageVersion } from './format.ts'
import type { VerifyResult } from './outcomes.ts'
import { memoryProblems, personaProblems, recordProblems } from './records.ts'
import { shortened } from './verify.ts'

/**
 * Verifies a stored persona. `expected` is the checksum of the state that its log gives, `actual` that of the stored state;
 * the log must be one chain, every record and vector valid, and every memory as it was stored.
 */
export async function verifyStored(snapshot: PersonaSnapshot, content: PackageContent): Promise<VerifyResult> {
  const problems: string[] = personaProblems(content.persona).map((problem) => `persona: ${problem}`)
  const hash = new ContentHash()
  const chain = chainCheck()
  const log: AdaptationRecord[] = []
  for await (const batch of snapshot.log())
    for (const record of batch) {
      const place = `adaptation_log[${log.length}] (${record.id})`
      const broken = chain.check(record)
      const fields = { ...record }
      for (const problem of [...recordProblems(fields), ...(broken ? [broken] : [])])
        problems.push(`${place}: ${problem}`)
      hash.record(fields)
      log.push(record)
    }
  const checksumOfState = (learned: Learned) => checksumOf(canonicalize(viewLearned(learned)))
  const [expected, actual] = [checksumOfState(fold(log)), checksumOfState(snapshot.learned)]
  if (expected !== actual) problems.push('state: it differs from the state that the log gives')
  let memories = 0
  const dimensions = new Map(snapshot.spaces.map(({ key, dimension }) => [key, dimension]))
  for await (const batch of content.memories)
    for (const memory of batch) {
      const place = `memories[${memories++}] (${memory.fields['id']})`
      for (const problem of memoryProblems(memory.fields)) problems.push(`${place}: ${problem}`)
      const { vector } = memory
      if (vector && !isFiniteVector(vector)) problems.push(`${place}: its embedding holds a number that is not finite`)
      if (vector && vector.length !== dimensions.get(String(memory.fields['embedding_space'])))
        problems.push(`${place}: its embedding has another length than its space`)
      hash.memory(memory)
    }
  problems.push(...(await snapshot.differences()))
  return {
    valid: problems.length === 0,
    expected,
    actual,
    version: packageVersion,
    problems: shortened(problems),
    kind: problems.length === 0 ? null : 'damaged',
    form: null,
    content_hash: hash.digest(content),
    memories,
    adaptations: log.length,
  }
}
