import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { ask, path } from '../../wire/client.ts'
import type { Plugin, PluginTest } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'

/** A tiny live call, step by step. */
export function PluginTestPart({ plugin: { id, type } }: { readonly plugin: Plugin }) {
  const [test, setTest] = useState<PluginTest>()
  const action = useAction(async () => {
    setTest(undefined)
    setTest(await ask<PluginTest>('POST', path`/api/plugins/${id}/test`, { body: {} }))
  })
  if (type === 'tts' || type === 'embedding') return null
  return (
    <Section
      title="Test"
      actions={
        <Button icon="play" isBusy={action.isRunning} onClick={() => void action.run()}>
          Make a tiny call
        </Button>
      }
    >
      <Problem of={action.problem} />
      {action.isRunning && <p class="muted">The provider is asked…</p>}
      {test && (
        <ol class="steps" aria-label="Steps of the test">
          {test.steps.map(({ step, ok, detail }) => (
            <li key={step} class={ok ? 'good' : 'bad'}>
              <strong>
                {step}: {ok ? 'good' : 'failed'}
              </strong>
              <span class="muted text">{detail}</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  )
}
