import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** Copies a text to the clipboard and says so. */
export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <Button
      icon={isCopied ? 'check' : 'copy'}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? 'Copied' : label}
    </Button>
  )
}
