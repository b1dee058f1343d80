import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Labelled {
  readonly label: string
  readonly hint?: ComponentChildren
}

interface TextProps extends Labelled {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'password' | 'email' | 'search' | 'number' | 'url'
  readonly autoComplete?: string
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly isFirst?: boolean
  readonly list?: string
  readonly maxLength?: number
  readonly inputMode?: 'decimal' | 'numeric'
}

/** A line of text with its label. */
export function TextField({ label, hint, value, onInput, type = 'text', isRequired, isFirst, ...rest }: TextProps) {
  const id = useId()
  return (
    <Frame id={id} label={label} hint={hint}>
      <input
        id={id}
        class="input"
        // The type of the element depends on this one; all of them take the same fields.
        type={type as 'text'}
        value={value}
        required={isRequired}
        // biome-ignore lint/a11y/noAutofocus: the first field of a form that a person opened
        autoFocus={isFirst}
        aria-describedby={hint ? `${id}-hint` : undefined}
        dir="auto"
        spellcheck={false}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        {...rest}
      />
    </Frame>
  )
}

interface AreaProps extends Labelled {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly rows?: number
  readonly isCode?: boolean
  readonly placeholder?: string
}

/** Several lines of text with their label. */
export function TextArea({ label, hint, value, onInput, rows = 4, isCode, placeholder }: AreaProps) {
  const id = useId()
  return (
    <Frame id={id} label={label} hint={hint}>
      <textarea
        id={id}
        class={`input${isCode ? ' code' : ''}`}
        rows={rows}
        value={value}
        dir={isCode ? 'ltr' : 'auto'}
        spellcheck={!isCode}
        placeholder={placeholder}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Frame>
  )
}

interface SelectProps<T extends string> extends Labelled {
  readonly value: T
  readonly options: readonly (readonly [value: T, name: string])[]
  readonly onInput: (value: T) => void
}

/** A choice of one with its label. */
export function Select<T extends string>({ label, hint, value, options, onInput }: SelectProps<T>) {
  const id = useId()
  return (
    <Frame id={id} label={label} hint={hint}>
      <select id={id} class="input" value={value} onInput={({ currentTarget }) => onInput(currentTarget.value as T)}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </Frame>
  )
}

/** Yes or no. */
export function Check({
  label,
  isOn,
  onInput,
}: {
  readonly label: ComponentChildren
  readonly isOn: boolean
  readonly onInput: (isOn: boolean) => void
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onInput={({ currentTarget }) => onInput(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

/** A choice of several with its label. */
export function Checks<T extends string>({
  label,
  options,
  chosen,
  onInput,
}: {
  readonly label: string
  readonly options: readonly (readonly [value: T, name: string])[]
  readonly chosen: readonly T[]
  readonly onInput: (chosen: readonly T[]) => void
}) {
  return (
    <fieldset class="fields plain">
      <legend>{label}</legend>
      {options.map(([value, name]) => (
        <Check
          key={value}
          label={name}
          isOn={chosen.includes(value)}
          onInput={(isOn) => onInput(isOn ? [...chosen, value] : chosen.filter((other) => other !== value))}
        />
      ))}
    </fieldset>
  )
}

function Frame({
  id,
  label,
  hint,
  children,
}: Labelled & { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <div id={`${id}-hint`} class="hint">
          {hint}
        </div>
      )}
    </div>
  )
}
