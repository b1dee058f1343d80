import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Section } from '../../components/page.tsx'
import { tell } from '../../components/toasts.tsx'
import { ask, path, Refused } from '../../wire/client.ts'
import type { Plugin, PluginTest, StoredKey } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'

/** Stores a key, if given, and tries it with a tiny call. Throws where the provider refuses; takes a refused key back. */
export async function storeKey(id: string, key?: string): Promise<StoredKey | undefined> {
  const stored =
    key === undefined ? undefined : await ask<StoredKey>('PUT', path`/api/plugins/${id}/key`, { body: { key } })
  const { ok, steps } = await ask<PluginTest>('POST', path`/api/plugins/${id}/test`, { body: {} })
  if (ok) return stored
  const reason = steps.find((step) => !step.ok)?.detail ?? 'no answer'
  const isRefused = stored !== undefined && /refused the key/.test(reason)
  if (isRefused) await ask('DELETE', path`/api/plugins/${id}/key`)
  const end = isRefused ? 'The key was not kept' : 'The key was kept'
  throw new Refused(502, { error: reason, details: [`${end}. Check it, and try again.`] })
}

/** The key of a plugin: stored, tried and removed here; it is never shown. */
export function PluginKeyPart({ plugin, onChanged }: { readonly plugin: Plugin; readonly onChanged: () => void }) {
  const { id, name, auth, key_set: isSet } = plugin
  const [key, setKey] = useState('')
  const [isRemoving, setRemoving] = useState(false)
  const action = useAction(async () => {
    const { from, stored } = (await storeKey(id, key)) ?? {}
    setKey('')
    const isShadowed = from === 'environment' || from === 'credential'
    tell(
      isShadowed ? `The key is stored, but ${auth.key_env} of the service is used` : `The key is kept in the ${stored}`,
    )
    onChanged()
  })
  if (auth.key_env === '') return null
  return (
    <Section
      title="Key"
      actions={
        isSet && (
          <Button icon="trash" onClick={() => setRemoving(true)}>
            Remove the key
          </Button>
        )
      }
    >
      <Form action={action} submit={isSet ? 'Replace and try it' : 'Store and try it'} isIncomplete={key.trim() === ''}>
        <TextField
          label={`Key of ${name}`}
          type="password"
          value={key}
          onInput={setKey}
          autoComplete="off"
          hint={`Kept on this machine alone as ${auth.key_env}, and never shown again.`}
        />
      </Form>
      {isRemoving && (
        <Confirm
          title={`Remove the key of ${name}?`}
          submit="Remove"
          work={() => ask('DELETE', path`/api/plugins/${id}/key`)}
          onDone={onChanged}
          onClose={() => setRemoving(false)}
        >
          Chats no longer reach {name}. A key that the environment of the service sets stays.
        </Confirm>
      )}
    </Section>
  )
}
