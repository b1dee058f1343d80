import { Button } from '../../../components/button.tsx'
import { Copy } from '../../../components/copy.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Notice } from '../../../components/notice.tsx'

export interface NewSecret {
  readonly name: string
  readonly secret: string
}

/** A new secret, shown this once. */
export function SecretDialog({
  secret: { name, secret },
  onClose,
}: {
  readonly secret: NewSecret
  readonly onClose: () => void
}) {
  return (
    <Dialog title={name} onClose={onClose}>
      <Notice kind="warning">Copy the secret now: it is not kept, and is shown this once.</Notice>
      <code class="secret">{secret}</code>
      <div class="buttons end">
        <Copy text={secret} />
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
