/** Outlines on a grid of 16, drawn for this console. */
const paths = {
  now: 'M2 9h3l2-5 3 9 2-6 1 2h1',
  usage: 'M3 13V8M7 13V3M11 13V6M15 13H1',
  plugin: 'M6 2v3M10 2v3M4 5h8v4a4 4 0 0 1-8 0zM8 13v2',
  persona: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2.5 14a5.5 5.5 0 0 1 11 0',
  voice: 'M8 1.5a2 2 0 0 1 2 2V8a2 2 0 0 1-4 0V3.5a2 2 0 0 1 2-2M3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2.5',
  users:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5a4.5 4.5 0 0 1 9 0M11 3.2a2.5 2.5 0 0 1 0 4.6M12.4 9.5a4.5 4.5 0 0 1 2.1 4',
  audit: 'M3 2h10v12H3zM5.5 5.500h5M5.5 8h5M5.5 10.500h3',
  service: 'M2 3h12v4H2zM2 9h12v4H2zM4.500 5h.01M4.500 11h.01',
  key: 'M5.5 11.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8.3 7.5H15M13 7.5v3M10.5 7.5v2',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.7 10.7L14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  add: 'M8 3v10M3 8h10',
  edit: 'M10.5 3l2.5 2.5L6 12.500l-3.2.7.7-3.200z',
  trash: 'M3 4.500h10M6 4.500V3h4v1.500M4.5 4.500l.5 9h6l.5-9',
  pin: 'M6 2h4l-.5 4L12 8.500H4L6.5 6zM8 8.500V14',
  undo: 'M3 6.500h7a3.5 3.5 0 0 1 0 7H6M3 6.500L6 3.500M3 6.500L6 9.5',
  play: 'M5 3l8 5-8 5z',
  stop: 'M4 4h8v8H4z',
  send: 'M2 8l12-5-4.5 11L7.5 9z',
  copy: 'M6 6h7v7H6zM3 10V3h7',
  check: 'M3 8.500l3.5 3.500L13 4.5',
  warning: 'M8 2.500l6.5 11h-13zM8 7v3M8 12v.01',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  menu: 'M2 4h12M2 8h12M2 12h12',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1v1.500M8 13.500V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  download: 'M8 2v8M4.5 6.500L8 10l3.5-3.500M2.5 13.500h11',
  upload: 'M8 10V2M4.5 5.500L8 2l3.5 3.500M2.5 13.500h11',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.600M13 2v3h-3',
  leave: 'M6 2.500H3v11h3M7 8h7M11 5l3 3-3 3',
  lock: 'M4 7h8v6.500H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  next: 'M6 3l5 5-5 5',
  attach: 'M13 7.5L7.500 13a3.2 3.2 0 0 1-4.500-4.500L8.500 3a2.1 2.1 0 0 1 3 3L6 11.500a1 1 0 0 1-1.500-1.500l5-5',
  back: 'M10 3L5 8l5 5',
} as const

export type IconName = keyof typeof paths

/** An icon beside words that say the same: hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
