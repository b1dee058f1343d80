import type { Page } from 'playwright-core'

/** What a person uses: each needs a name. */
const controls = new Set(
  'button link textbox searchbox combobox checkbox radio slider spinbutton switch tab menuitem option'.split(' '),
)

const regions = new Set(['banner', 'navigation', 'main', 'dialog'])

interface Node {
  readonly ignored: boolean
  readonly nodeId: string
  readonly childIds?: readonly string[]
  readonly backendDOMNodeId?: number
  readonly role?: { readonly value: string }
  readonly name?: { readonly value: string }
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value: unknown } }[]
}

/** Where an element stands on the page, in CSS pixels. */
type Box = readonly [left: number, top: number, width: number, height: number]

/**
 * What is wrong for a person who hears the page: headings that skip a level, controls without a name, and headings and
 * controls that are read after what stands below them, or right of them in one line.
 */
export async function readingFaults(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: readonly Node[] }
  const { documents } = await session.send('DOMSnapshot.captureSnapshot', { computedStyles: [] })
  await session.detach()
  const { layout, nodes: elements } = documents[0]!
  const boxes = new Map(
    layout.nodeIndex.map((index, at) => [elements.backendNodeId![index]!, layout.bounds[at] as unknown as Box]),
  )
  const faults: string[] = []
  let level = 0
  let before: { readonly says: string; readonly box: Box; readonly region: string } | undefined
  for (const [node, region] of inOrder(nodes)) {
    const role = node.role?.value ?? ''
    const isHeading = role === 'heading'
    if (node.ignored || !(isHeading || controls.has(role))) continue
    const says = `${role} “${(node.name?.value ?? '').slice(0, 60)}”`
    if ((node.name?.value ?? '').trim() === '') faults.push(`${role} without a name`)
    if (isHeading) {
      const next = Number(node.properties?.find(({ name }) => name === 'level')?.value.value)
      // A dialog over a view begins with a heading of its own.
      if (next > (level || 2) + 1 || (level === 0 && next > 2)) faults.push(`${says} of level ${next} after ${level}`)
      level = next
    }
    const box = boxes.get(node.backendDOMNodeId ?? -1)
    if (!box || !isSeen(box)) continue
    // A bar of links may stay at the lower edge of a phone: the order is that within a region.
    if (before?.region === region && isBefore(box, before.box)) faults.push(`${says} is read after ${before.says}`)
    before = { says, box, region }
  }
  if (level === 0) faults.push('no heading')
  return faults
}

/** The nodes in the order in which they are read, each with the id of its region. */
function* inOrder(nodes: readonly Node[]): Iterable<readonly [Node, region: string]> {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const rest: [string, string][] = nodes.slice(0, 1).map(({ nodeId }) => [nodeId, nodeId])
  for (let next = rest.pop(); next; next = rest.pop()) {
    const [id, around] = next
    const node = byId.get(id)
    if (!node) continue
    const region = regions.has(node.role?.value ?? '') ? id : around
    yield [node, region]
    rest.push(...(node.childIds ?? []).map((child): [string, string] => [child, region]).toReversed())
  }
}

/** Whether an element is there for eyes too: texts for screen readers alone are a pixel large, or outside the page. */
function isSeen([left, top, width, height]: Box): boolean {
  return width > 1 && height > 1 && left + width > 0 && top + height > 0
}

/** Whether eyes meet the first box before the second: it ends above it, and not right of it, or left of it in its line. */
function isBefore([left, top, width, height]: Box, [otherLeft, otherTop, otherWidth, otherHeight]: Box): boolean {
  const isAbove = top + height <= otherTop + 1 && left < otherLeft + otherWidth
  const together = Math.min(top + height, otherTop + otherHeight) - Math.max(top, otherTop)
  return isAbove || (together > Math.min(height, otherHeight) / 2 && left + width <= otherLeft + 1)
}
