import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

interface CopyProps {
  readonly text: string
  readonly label?: string
  readonly isQuiet?: boolean
}

/** Copies a text to the clipboard and says so. */
export function Copy({ text, label = 'Copy', isQuiet }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  return (
    <Button
      icon={isCopied ? 'check' : 'copy'}
      kind={isQuiet ? 'quiet' : 'plain'}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? 'Copied' : label}
    </Button>
  )
}
