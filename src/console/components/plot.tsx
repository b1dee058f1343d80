import { useEffect, useRef, useState } from 'preact/hooks'
import UPlot from 'uplot'
import { day, shortDay } from '../page/format.ts'
import { shownTheme, watchTheme } from '../page/theme.ts'

interface PlotProps {
  readonly title: string
  /** The unit of the values, at their axis. */
  readonly unit: string
  /** Days, or the first ones of weeks or months, as `2026-11-22`. */
  readonly days: readonly string[]
  /** What a bar stands for, such as `Day` or `Week from`. */
  readonly step: string
  /** Stand on each other, the first at the bottom. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
  /** Writes a value, with the digits of `least` where values stand below each other. */
  readonly format: (value: number, least?: number) => string
  /** Called with the place of a bar that is clicked; the table next to the plot leads on for keyboards. */
  readonly onPick: (at: number) => void
}

/** Pixels of a plot without its legend, and of the axis of values. */
const height = 220
const axisWidth = 48
/** Pixels of a letter at an axis. */
const letterWidth = 7
const daySeconds = 86_400

/** Bars by day, week or month with axes, units, and the values under the pointer; the same numbers are in a table next to it. */
export function Plot({ title, unit, days, step, series, format, onPick }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [theme, setTheme] = useState(shownTheme)
  useEffect(() => watchTheme(() => setTheme(shownTheme())), [])
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
    const times = days.map((name) => Date.parse(name) / 1000)
    const half = ((times[1] ?? daySeconds) - (times[0] ?? 0)) / 2
    // Each bar reaches to the top of its stack; the lower ones are drawn over the higher ones.
    const tops = series.map((_, at) =>
      days.map((_, index) => series.slice(0, at + 1).reduce((sum, { values }) => sum + values[index]!, 0)),
    )
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height,
        // Days have no time zone.
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'UTC'),
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          x: { range: (_, first, last) => [first - half, last + half] },
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
            values: (_, values) =>
              values.map((value) =>
                format(
                  value,
                  values.find((each) => each > 0),
                ),
              ),
            size: (_, words) => Math.max(axisWidth, ...(words ?? []).map((word) => 18 + letterWidth * word.length)),
            label: unit,
            labelFont: colours.font,
            labelSize: 18,
            labelGap: 0,
          },
        ],
        series: [
          {
            label: step,
            value: (_, seconds) => (seconds === null ? '' : day(new Date(seconds * 1000).toISOString().slice(0, 10))),
          },
          ...series
            .map(({ name, values }, at) => ({
              label: name,
              stroke: colours.series[at]!,
              fill: colours.series[at]!,
              paths: bars,
              points: { show: false },
              value: (_: UPlot, _top: number | null, _series: number, index: number | null) =>
                index === null ? '' : format(values[index]!),
            }))
            .toReversed(),
        ],
      },
      [times, ...tops.toReversed()],
      element,
    )
    plot.over.addEventListener('click', () => plot.cursor.idx != null && onPick(plot.cursor.idx))
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [days.join(), series, theme])
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
    series: [probe('--accent'), probe('--warm')],
    font: `12px ${style.fontFamily}`,
  }
}

/** `rgb(1, 2, 3)` as `#010203`. */
function hexOf(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map(Number)
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
