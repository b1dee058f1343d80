import { Tile } from '../../components/tile.tsx'
import { count, dollars, duration } from '../../page/format.ts'
import { linkWith } from '../../page/route.ts'
import type { LastHour as Hour } from '../../wire/types.ts'

type Minute = Hour['minutes'][number]

const minuteMs = 60_000
/** Units of a curve: a minute is one wide. */
const width = 60
const height = 20

/** The last hour: requests, failures, first content and cost by minute, each leading to its requests. */
export function LastHour({ hour: { since, until, minutes } }: { readonly hour: Hour }) {
  const sumOf = (read: (minute: Minute) => number) => minutes.reduce((sum, minute) => sum + read(minute), 0)
  const [requests, failed] = [sumOf((minute) => minute.requests), sumOf((minute) => minute.failed)]
  const firsts = minutes.flatMap(({ first_ms }) => first_ms ?? []).toSorted((one, other) => one - other)
  const link = (query = {}) => linkWith({ since, until: until + minuteMs, ...query }, 'usage', 'requests')
  const curves = [
    {
      name: 'Requests',
      figure: count(requests),
      note: 'in the last hour',
      read: (minute: Minute) => minute.requests,
      format: count,
      href: link(),
    },
    {
      name: 'Failed',
      figure: count(failed),
      note: requests === 0 ? 'nothing was asked' : `of ${count(requests)}`,
      read: (minute: Minute) => minute.failed,
      format: count,
      href: link({ outcome: 'failed,broken' }),
    },
    {
      name: 'First content',
      figure: firsts.length === 0 ? '–' : duration(Math.round(firsts[Math.floor(firsts.length / 2)]!)),
      note:
        firsts.length === 0 ? 'nothing was streamed' : `median minute; slowest ${duration(Math.round(firsts.at(-1)!))}`,
      read: (minute: Minute) => minute.first_ms ?? 0,
      format: duration,
      href: link(),
    },
    {
      name: 'Cost',
      figure: requests === 0 ? '–' : dollars(sumOf(({ cost_nano }) => cost_nano) / 1e9),
      note: requests === 0 ? 'nothing was asked' : 'with a known price',
      read: (minute: Minute) => minute.cost_nano / 1e9,
      format: dollars,
      href: link(),
    },
  ]
  return (
    <div class="tiles quarters">
      {curves.map(({ name, figure, note, href, read, format }) => (
        <Tile key={name} name={name} figure={<a href={href}>{figure}</a>} note={note}>
          <Curve
            name={name}
            since={since}
            values={minutes.map((minute) => [minute.at, read(minute)])}
            format={format}
          />
        </Tile>
      ))}
    </div>
  )
}

interface CurveProps {
  readonly name: string
  readonly since: number
  readonly values: readonly (readonly [at: number, value: number])[]
  readonly format: (value: number) => string
}

/** A bar for each minute; those with nothing have none. */
function Curve({ name, since, values, format }: CurveProps) {
  const most = Math.max(...values.map(([, value]) => value), 0)
  const bars = values
    .filter(([, value]) => value > 0)
    .map(([at, value]) => {
      const tall = Math.max(1, (height * value) / most)
      return `M${(at - since) / minuteMs} ${height}v${-tall}h.8v${tall}z`
    })
  return (
    <svg
      class="curve"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name} by minute, ${most > 0 ? `at most ${format(most)}` : 'none'}`}
    >
      <path d={bars.join('')} />
    </svg>
  )
}
