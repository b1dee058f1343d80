import { AppError } from '../../errors.ts'
import { acceptProposal, listProposals, rejectProposal } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { timeText } from '../terminal/times.ts'

export async function list(cli: Cli, id: string, { status }: { status: string }): Promise<void> {
  const found = await cli.ask(listProposals, { ...fieldsOf(cli, listProposals), id })
  await print(cli, found, ({ proposals }) =>
    table(
      cli,
      proposals,
      [
        ['ID', (row) => row.id],
        ['SURE', (row) => row.confidence.toFixed(2)],
        ['TIME', (row) => timeText(cli, row.created_at)],
        ['MODEL', (row) => row.model],
        ['SOURCE', (row) => row.memory_id.slice(0, 8)],
        ['FACT', (row) => row.content],
      ],
      status === 'open'
        ? `no facts wait; a chat proposes some after: aichat persona update ${id} --extract manual`
        : `no ${status} facts`,
    ),
  )
  if (found.total > found.proposals.length)
    note(cli, `aichat: ${found.proposals.length} of ${found.total}; see --limit and --offset`)
}

export async function accept(cli: Cli, id: string, beginnings: readonly string[]): Promise<void> {
  const accepted: { readonly memory: { readonly id: string } }[] = []
  for (const proposal_id of await idsOf(cli, id, beginnings))
    accepted.push(await cli.ask(acceptProposal, { id, proposal_id }))
  await print(cli, accepted.length === 1 ? accepted[0] : { accepted }, () =>
    accepted.map(({ memory }) => memory.id).join('\n'),
  )
}

export async function reject(cli: Cli, id: string, beginnings: readonly string[]): Promise<void> {
  const rejected: { readonly id: string }[] = []
  for (const proposal_id of await idsOf(cli, id, beginnings))
    rejected.push(await cli.ask(rejectProposal, { id, proposal_id }))
  await print(cli, rejected.length === 1 ? rejected[0] : { rejected }, () => rejected.map((one) => one.id).join('\n'))
}

/** The ids of the open proposals that begin so, each once; none is decided before all are known. A whole id is taken as it is. */
async function idsOf(cli: Cli, id: string, beginnings: readonly string[]): Promise<readonly string[]> {
  const { proposals } = await cli.ask(listProposals, { id, limit: 1000 })
  const ids = beginnings.map((beginning) => {
    const found = proposals.filter((one) => beginning !== '' && one.id.startsWith(beginning))
    if (found.length > 1)
      throw new AppError('usage', `${found.length} proposals begin with "${beginning}": give more of the id`)
    return found[0]?.id ?? beginning
  })
  return [...new Set(ids)]
}
