import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { FileField } from '../../../components/file-field.tsx'
import { Notice, Problem } from '../../../components/notice.tsx'
import { bytes, count, percent } from '../../../page/format.ts'
import type { Imported, Persona } from '../../../wire/types.ts'
import { upload } from '../../../wire/upload.ts'
import { useAction } from '../../../wire/use-action.ts'

interface ImportDialogProps {
  /** The persona that takes the file into its memory; without one the file becomes a persona of its own. */
  readonly persona?: Persona
  readonly onClose: () => void
}

/** Imports a package, a character card, an export of another program, or lines of memories, and shows how far it is. */
export function ImportDialog({ persona, onClose }: ImportDialogProps) {
  const [file, setFile] = useState<File>()
  const [share, setShare] = useState(0)
  const [done, setDone] = useState<Imported>()
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const action = useAction(async (chosen: File) => {
    setShare(0)
    const query = persona ? `?${new URLSearchParams({ persona: persona.id, mode: 'merge' })}` : ''
    setDone(await upload<Imported>(`/api/personas/import${query}`, chosen, setShare, stop.current.signal))
  })
  return (
    <Dialog title={persona ? `Import into ${persona.name}` : 'Import a persona'} onClose={onClose}>
      <p class="muted">
        A package or character card, an export of ChatGPT or Claude, a Letta agent file, or memories as JSON lines.
      </p>
      <FileField label="File" onFile={setFile} />
      {action.isRunning && (
        <div>
          <progress max={1} value={share < 1 ? share : undefined} aria-label="Progress of the import" />
          <p class="muted" aria-live="polite">
            {share < 1 ? `${percent(share)} of ${bytes(file?.size ?? 0)} sent` : 'Sent; the file is read and indexed'}
          </p>
        </div>
      )}
      <Problem of={action.problem} />
      {done && <Result done={done} />}
      <div class="buttons end">
        <Button onClick={onClose}>{done ? 'Close' : 'Cancel'}</Button>
        {!done && (
          <Button
            kind="main"
            isDisabled={!file}
            isBusy={action.isRunning}
            onClick={() => file && void action.run(file)}
          >
            Import
          </Button>
        )}
      </div>
    </Dialog>
  )
}

function Result({ done: { name, imported, duplicates, warnings, left_out = [] } }: { readonly done: Imported }) {
  return (
    <Notice kind="good">
      <p class="text">
        {name}: {count(imported.memories)} memories and {count(imported.adaptations)} adaptations imported
        {duplicates > 0 && `, ${count(duplicates)} were there already`}.
      </p>
      {[...warnings, ...left_out.map(({ what, count: times }) => `left out: ${count(times)} × ${what}`)].map((line) => (
        <p key={line} class="text">
          {line}
        </p>
      ))}
    </Notice>
  )
}
