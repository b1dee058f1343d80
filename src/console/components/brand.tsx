/** The mark of the product beside its name: a prompt in a speech bubble. `icon.svg` is the same drawing. */
export function Brand() {
  return (
    <>
      <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
        <path d="M7 3h18a5 5 0 0 1 5 5v12a5 5 0 0 1-5 5H14l-7 5.5V25a5 5 0 0 1-5-5V8a5 5 0 0 1 5-5z" />
        <path d="M9 9.5l5 4.5-5 4.5" />
        <circle cx="21" cy="18" r="2.6" />
      </svg>
      aichat
    </>
  )
}
