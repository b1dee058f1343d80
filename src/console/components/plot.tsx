import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { day, shortDay } from '../page/format.ts'

interface PlotProps {
  readonly title: string
  /** The unit of the values, at their axis. */
  readonly unit: string
  /** Days as `2026-11-22`. */
  readonly days: readonly string[]
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
  readonly format: (value: number) => string
}

/** Pixels of a plot without its legend, and of the axis of values. */
const height = 220
const axisWidth = 64
const daySeconds = 86_400

/** Bars by day with axes, units, and the values under the pointer; the same numbers are in a table next to it. */
export function Plot({ title, unit, days, series, format }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = frame.current
    if (!element) return undefined
    const colours = coloursOf(element)
    const bars = UPlot.paths.bars!({ size: [0.6, 40], align: 0 })
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.line, width: 1 },
      ticks: { show: false },
      font: colours.font,
    }
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height,
        // Days have no time zone.
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'UTC'),
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          x: { range: (_, first, last) => [first - daySeconds / 2, last + daySeconds / 2] },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (_, seconds) => seconds.map((second) => shortDay(second * 1000)),
            space: 70,
          },
          {
            ...axis,
            values: (_, values) => values.map(format),
            size: axisWidth,
            label: unit,
            labelFont: colours.font,
            labelSize: 18,
            labelGap: 0,
          },
        ],
        series: [
          {
            label: 'Day',
            value: (_, seconds) => (seconds === null ? '–' : day(new Date(seconds * 1000).toISOString().slice(0, 10))),
          },
          ...series.map(({ name }, at) => ({
            label: name,
            stroke: colours.series[at]!,
            fill: `${colours.series[at]!}99`,
            paths: bars,
            points: { show: false },
            value: (_: UPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
      },
      [days.map((name) => Date.parse(name) / 1000), ...series.map(({ values }) => [...values])],
      element,
    )
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [days.join(), series, document.documentElement.dataset['theme']])
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <div
        ref={frame}
        class="plot-frame"
        role="img"
        aria-label={`${title}, in ${unit}; the table below has the numbers`}
      />
    </figure>
  )
}

/** The colours of the theme, which a canvas does not inherit. */
function coloursOf(element: Element) {
  const style = getComputedStyle(element)
  const probe = (name: string) => {
    const sample = document.createElement('i')
    sample.style.color = `var(${name})`
    element.append(sample)
    const colour = getComputedStyle(sample).color
    sample.remove()
    return hexOf(colour)
  }
  return {
    text: probe('--muted'),
    line: probe('--line'),
    series: [probe('--accent'), probe('--warning')],
    font: `12px ${style.fontFamily}`,
  }
}

/** `rgb(1, 2, 3)` as `#010203`. */
function hexOf(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map(Number)
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
