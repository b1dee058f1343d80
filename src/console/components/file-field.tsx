import { useId } from 'preact/hooks'

interface FileFieldProps {
  readonly label: string
  readonly accept?: string
  readonly onFile: (file: File | undefined) => void
}

/** A file of the person's machine. */
export function FileField({ label, accept, onFile }: FileFieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input file"
        type="file"
        accept={accept}
        onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])}
      />
    </div>
  )
}
