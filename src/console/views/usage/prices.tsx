import { useState } from 'preact/hooks'
import { stateColumn, textColumn } from '../../components/columns.tsx'
import { Dialog, Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Listing } from '../../components/listing.tsx'
import { useSession } from '../../page/session.ts'
import { ask, askPages } from '../../wire/client.ts'
import type { Price } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'

/** What the models cost, and the installation's own prices. */
export function Prices() {
  const { isAdmin } = useSession()
  const [edited, setEdited] = useState<Partial<Price>>()
  const data = useData((signal) => askPages<Price>('/api/prices', 'prices', { signal }), [])
  return (
    <>
      <Listing<Price>
        title="Prices in US dollars per million tokens"
        data={data}
        {...(isAdmin && { main: { icon: 'add', words: 'Own price', work: () => setEdited({}) } })}
        keyOf={({ id }) => id}
        file="prices.csv"
        columns={[
          textColumn('Plugin', ({ plugin }) => plugin),
          textColumn('Model', ({ model }) => model),
          rateColumn('In', 'input'),
          rateColumn('Cached', 'cached'),
          rateColumn('Out', 'output'),
          textColumn('Since', ({ valid_from: day }) => day, { isExtra: true }),
          stateColumn('From', ({ source }) => (source === 'operator' ? 'own' : source), { own: 'busy' }),
        ]}
        actions={[
          isAdmin && {
            icon: 'edit',
            label: ({ plugin, model }) => `Set a price for ${plugin}: ${model}`,
            work: setEdited,
          },
          isAdmin && {
            icon: 'trash',
            label: ({ plugin, model }) => `Remove the own price of ${plugin}: ${model}`,
            isFor: ({ source }) => source === 'operator',
            work: ({ plugin, model, valid_from }) =>
              ask('DELETE', '/api/prices', { query: { plugin, model, valid_from } }),
            confirm: ['Remove', () => 'The known price counts again, for requests from now on.'],
          },
        ]}
      />
      {edited && <PriceDialog edited={edited} onClose={() => setEdited(undefined)} onSaved={data.reload} />}
    </>
  )
}

function rateColumn(name: string, rate: 'input' | 'cached' | 'output') {
  const value = ({ rates }: Price) => (rates[rate] === undefined ? null : Number(rates[rate]))
  return { name, of: ({ rates }: Price) => rates[rate] ?? '', value, isNumber: true, isExtra: rate === 'cached' }
}

interface PriceDialogProps {
  readonly edited: Partial<Price>
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Sets a price of the installation's own, which goes before the known one. */
function PriceDialog({ edited, onClose, onSaved }: PriceDialogProps) {
  const [plugin, setPlugin] = useState(edited.plugin ?? '')
  const [model, setModel] = useState(edited.model ?? '')
  const [rates, setRates] = useState<Readonly<Record<string, string>>>({ ...edited.rates })
  const action = useAction(async () => {
    const given = Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== ''))
    await ask('PUT', '/api/prices', { body: { prices: [{ plugin, model, rates: given }] } })
    onClose()
    onSaved()
  })
  const rateField = (label: string, name: string) => (
    <TextField
      label={label}
      inputMode="decimal"
      value={rates[name] ?? ''}
      onInput={(rate) => setRates({ ...rates, [name]: rate.trim() })}
    />
  )
  return (
    <Dialog title="Own price" onClose={onClose}>
      <Form action={action} submit="Save" onCancel={onClose} isIncomplete={plugin === '' || model === ''}>
        <div class="fields">
          <TextField label="Plugin" value={plugin} onInput={setPlugin} isFirst hint="Its id" />
          <TextField label="Model" value={model} onInput={setModel} hint="* stands for any text, # for a digit" />
          {rateField('In', 'input')}
          {rateField('Out', 'output')}
          {rateField('From a cache (optional)', 'cached')}
        </div>
      </Form>
    </Dialog>
  )
}
