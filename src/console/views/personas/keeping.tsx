import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { numberColumn, textColumn, timeColumn } from '../../components/columns.tsx'
import { Form } from '../../components/dialog.tsx'
import { Check, Select, TextField } from '../../components/field.tsx'
import { Listing } from '../../components/listing.tsx'
import { Notice, Problem } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { bytes, count, dateTime } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import { save } from '../../wire/save.ts'
import type { Backup, Persona, Verification } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useList } from '../../wire/use-data.ts'

/** Backups of a persona, its export as a file, and the check of its integrity. */
export function Keeping({ persona, onRestored }: { readonly persona: Persona; readonly onRestored: () => void }) {
  return (
    <>
      <Backups persona={persona} onRestored={onRestored} />
      <Export persona={persona} />
      <Integrity persona={persona} />
    </>
  )
}

function Backups({ persona, onRestored }: { readonly persona: Persona; readonly onRestored: () => void }) {
  const place = path`/api/personas/${persona.id}`
  return (
    <Listing<Backup>
      title="Backups"
      data={useList(`${place}/backups`, 'backups')}
      keyOf={({ backup_id }) => backup_id}
      empty={['No backup yet']}
      main={{
        icon: 'add',
        words: 'Back up now',
        work: () => ask('POST', `${place}/backup`, { body: {} }),
        done: 'Backed up',
      }}
      columns={[
        timeColumn('Made', ({ created_at }) => created_at),
        textColumn('Reason', ({ reason }) => reason.replaceAll('_', ' '), { isExtra: true }),
        numberColumn('Memories', ({ memories }) => memories),
        numberColumn('Size', ({ bytes: size }) => size, bytes, { isExtra: true }),
      ]}
      actions={[
        {
          icon: 'undo',
          label: ({ created_at }) => `Restore the backup of ${dateTime(created_at)}`,
          work: ({ backup_id }) => ask('POST', `${place}/restore`, { body: { backup_id } }).then(onRestored),
          done: 'Restored',
          confirm: [
            'Restore',
            () => 'Memories and the learned state become those of the backup. The present state is backed up first.',
          ],
        },
      ]}
    />
  )
}

const formats = [
  ['container', 'package (with all memories)'],
  ['json', 'package as JSON'],
  ['card_png', 'character card (picture)'],
  ['card', 'character card (JSON)'],
  ['jsonl', 'memories as JSON lines'],
] as const

function Export({ persona }: { readonly persona: Persona }) {
  const [format, setFormat] = useState<(typeof formats)[number][0]>('container')
  const [passphrase, setPassphrase] = useState('')
  const [embeddings, setEmbeddings] = useState(true)
  const action = useAction(() =>
    save('POST', path`/api/personas/${persona.id}/export`, `${persona.name}.${format}`, {
      body: { format, include_embeddings: embeddings, ...(passphrase !== '' && { passphrase }) },
    }),
  )
  return (
    <Section title="Export">
      <div class="card">
        <Form action={action} submit="Export">
          <div class="fields">
            <Select label="Format" value={format} options={formats} onInput={setFormat} />
            <TextField
              label="Passphrase (optional)"
              type="password"
              value={passphrase}
              onInput={setPassphrase}
              autoComplete="new-password"
              hint="Encrypts the file with age."
            />
          </div>
          <Check label="With embeddings" isOn={embeddings} onInput={setEmbeddings} />
        </Form>
      </div>
    </Section>
  )
}

function Integrity({ persona }: { readonly persona: Persona }) {
  const [found, setFound] = useState<Verification>()
  const action = useAction(async () => {
    setFound(await ask<Verification>('POST', path`/api/personas/${persona.id}/verify`, { body: undefined }))
  })
  return (
    <Section
      title="Integrity"
      actions={
        <Button icon="check" isBusy={action.isRunning} onClick={() => void action.run()}>
          Verify
        </Button>
      }
    >
      <Problem of={action.problem} />
      {!found && !action.problem && (
        <p class="muted">Compares the stored records with their digests, and the log of learning with its chain.</p>
      )}
      {found && (
        <Notice kind={found.valid ? 'good' : 'warning'}>
          <p>
            <Badge tone={found.valid ? 'good' : 'bad'}>{found.valid ? 'unchanged' : 'damaged'}</Badge>{' '}
            {count(found.memories)} memories, {count(found.adaptations)} adaptations
          </p>
          {found.problems.map((problem) => (
            <p key={problem} class="text">
              {problem}
            </p>
          ))}
          {found.actual && <p class="mono text">{found.actual}</p>}
        </Notice>
      )}
    </Section>
  )
}
