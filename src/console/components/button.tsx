import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export interface ButtonProps {
  readonly children?: ComponentChildren
  readonly icon?: IconName
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet'
  readonly type?: 'button' | 'submit'
  /** The name for screen readers of a button that shows an icon alone; also its tooltip. */
  readonly label?: string
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  readonly isPressed?: boolean
  readonly onClick?: (event: MouseEvent) => void
}

/** A button; while it is busy it keeps its width and takes no click. */
export function Button({ children, icon, kind = 'plain', type = 'button', label, isBusy, ...rest }: ButtonProps) {
  const { isDisabled, isPressed, onClick } = rest
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? ' bare' : ''}`}
      aria-label={label}
      data-word={label?.split(' ')[0]}
      title={label}
      aria-busy={isBusy}
      aria-pressed={isPressed}
      disabled={isDisabled || isBusy}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  )
}
