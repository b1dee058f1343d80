import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Form } from '../../components/dialog.tsx'
import { Check, Select, TextField } from '../../components/field.tsx'
import { Empty, Notice, Problem } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { tell } from '../../components/toasts.tsx'
import { bytes, count } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import { save } from '../../wire/save.ts'
import type { Backup, Persona, Verification } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'

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
  const [asked, setAsked] = useState<Backup>()
  const data = useData<{ backups: readonly Backup[] }>(
    (signal) => ask('GET', path`/api/personas/${persona.id}/backups`, { signal }),
    [],
  )
  const backUp = useAction(async () => {
    await ask('POST', path`/api/personas/${persona.id}/backup`, { body: {} })
    tell('Backed up')
    data.reload()
  })
  const { backups = [] } = data.value ?? {}
  return (
    <Section
      title="Backups"
      actions={
        <Button icon="add" isBusy={backUp.isRunning} onClick={() => void backUp.run()}>
          Back up now
        </Button>
      }
    >
      <Problem of={data.problem ?? backUp.problem} />
      {data.value && backups.length === 0 && <Empty title="No backup yet" />}
      {backups.length > 0 && (
        <Table
          caption="Backups"
          rows={backups}
          keyOf={({ backup_id }) => backup_id}
          columns={[
            { name: 'Made', of: ({ created_at }) => <Time at={created_at} /> },
            { name: 'Reason', of: ({ reason }) => reason.replaceAll('_', ' '), isExtra: true },
            { name: 'Memories', of: ({ memories }) => count(memories), isNumber: true },
            { name: 'Size', of: ({ bytes: size }) => bytes(size), isNumber: true, isExtra: true },
            { name: '', of: (backup) => <Button onClick={() => setAsked(backup)}>Restore</Button>, isNumber: true },
          ]}
        />
      )}
      {asked && (
        <Confirm
          title="Restore this backup?"
          submit="Restore"
          work={() => ask('POST', path`/api/personas/${persona.id}/restore`, { body: { backup_id: asked.backup_id } })}
          onDone={() => {
            tell('Restored')
            data.reload()
            onRestored()
          }}
          onClose={() => setAsked(undefined)}
        >
          Memories and the learned state become those of the backup. The present state is backed up first.
        </Confirm>
      )}
    </Section>
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
