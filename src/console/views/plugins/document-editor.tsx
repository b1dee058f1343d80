import { useId, useRef } from 'preact/hooks'
import type { PluginCheck } from '../../wire/types.ts'

type Remark = PluginCheck['problems'][number]

interface DocumentEditorProps {
  readonly text: string
  readonly onInput: (text: string) => void
  readonly problems: readonly Remark[]
  readonly warnings: readonly Remark[]
}

const placeholder = `{
  "id": "my-provider",
  "name": "My provider",
  "type": "chat",
  "endpoint": "https://api.example.com/v1/chat/completions",
  "auth": { "header": "Authorization", "prefix": "Bearer ", "key_env": "MY_PROVIDER_API_KEY" },
  "model_map": ["my-model"]
}`

/** A field for a JSON document with numbered lines; lines with a problem are marked, and each problem leads to its line. */
export function DocumentEditor({ text, onInput, problems, warnings }: DocumentEditorProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLOListElement>(null)
  const marked = new Map([
    ...warnings.map(({ line }) => [line, 'warning'] as const),
    ...problems.map(({ line }) => [line, 'bad'] as const),
  ])
  const lines = text.split('\n').length
  const goToLine = (line: number) => {
    const start =
      text
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0)
    const end = text.indexOf('\n', start)
    field.current?.focus()
    field.current?.setSelectionRange(start, end < 0 ? text.length : end)
  }
  return (
    <div class="field">
      <label for={id}>Document</label>
      <div class="editor">
        <ol ref={numbers} class="numbers" aria-hidden="true">
          {Array.from({ length: Math.min(lines, mostNumbered) }, (_, at) => (
            <li key={at} class={marked.get(at + 1)}>
              {at + 1}
            </li>
          ))}
        </ol>
        <textarea
          ref={field}
          id={id}
          class="input code"
          rows={14}
          value={text}
          placeholder={placeholder}
          dir="ltr"
          wrap="off"
          spellcheck={false}
          aria-invalid={problems.length > 0}
          aria-describedby={`${id}-problems`}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onScroll={({ currentTarget }) => numbers.current?.scrollTo(0, currentTarget.scrollTop)}
        />
      </div>
      <ul id={`${id}-problems`} class="problems" aria-live="polite">
        {[
          ...problems.map((remark) => ['bad', remark] as const),
          ...warnings.map((remark) => ['warning', remark] as const),
        ].map(([kind, { line, message }]) => (
          <li key={message} class={kind}>
            {line !== null && (
              <button type="button" class="link" onClick={() => goToLine(line)}>
                Line {line}
              </button>
            )}{' '}
            <span class="text">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Lines with a number: no plugin document has as many. */
const mostNumbered = 5000
