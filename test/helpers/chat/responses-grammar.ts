import * as assert from 'uvu/assert'

/** An event of a stream of the Responses API, as its clients get it. */
export type WireEvent = ReturnType<typeof JSON.parse>

/** The events of a stream, each with the name that its data says too. */
export function eventsOf(text: string): WireEvent[] {
  const blocks = text.split('\n\n').filter((block) => block.trim() !== '' && !block.startsWith(':'))
  return blocks.map((block) => {
    const [name, data, ...more] = block.split('\n')
    assert.equal(more, [], 'an event has a name and one line of data')
    const event = JSON.parse(data!.replace(/^data: /, ''))
    assert.is(name, `event: ${event.type}`)
    return event
  })
}

const lastEvents = ['response.completed', 'response.incomplete', 'response.failed']

/**
 * Checks the whole grammar of a stream: numbers from 0 by 1, `created` and `in_progress` first, items one after the other
 * and each from `added` to `done`, pieces that add up, and one last event with just these items. Returns the last response.
 */
export function checkGrammar(events: readonly WireEvent[]): WireEvent {
  assert.equal(
    events.map(({ sequence_number: number }) => number),
    events.map((_, index) => index),
  )
  const [created, progress, ...rest] = events
  assert.is(created.type, 'response.created')
  assert.is(progress.type, 'response.in_progress')
  for (const { response } of [created, progress]) {
    assert.is(response.status, 'in_progress')
    assert.equal(response.output, [])
  }
  const last = rest.pop()
  assert.ok(lastEvents.includes(last.type), last.type)
  assert.is(last.response.status, last.type.slice('response.'.length))
  assert.is(last.response.id, created.response.id)
  const failed = last.type === 'response.failed'
  if (failed) checkError(rest.pop(), last.response)
  const items = checkItems(rest, failed)
  if (!failed) assert.equal(last.response.output, items)
  return last.response
}

/** The error stands on top and in an object of its own, and in the response that failed. */
function checkError({ type, code, message, param, error }: WireEvent, response: WireEvent): void {
  assert.is(type, 'error')
  assert.equal([error.code, error.message, error.param], [code, message, param])
  assert.is(response.error.message, message)
  assert.ok(response.error.code)
}

function checkItems(events: readonly WireEvent[], mayBreakOff: boolean): WireEvent[] {
  const items: WireEvent[] = []
  let at = 0
  while (at < events.length) {
    const added = events[at]
    assert.is(added.type, 'response.output_item.added', 'an item begins')
    assert.is(added.output_index, items.length)
    const end = events.findIndex((event, index) => index > at && event.type === 'response.output_item.done')
    const inside = events.slice(at + 1, end === -1 ? undefined : end)
    for (const event of inside) {
      assert.is(event.output_index, items.length, event.type)
      assert.is(event.item_id, added.item.id, event.type)
    }
    if (end === -1) {
      assert.ok(mayBreakOff, 'every item ends')
      return items
    }
    const { item } = events[end]
    assert.equal([item.id, item.type], [added.item.id, added.item.type])
    checkInside(added.item, inside, item)
    items.push(item)
    at = end + 1
  }
  return items
}

function checkInside(added: WireEvent, events: readonly WireEvent[], item: WireEvent): void {
  const joined = (type: string) =>
    events
      .filter((event) => event.type === type)
      .map(({ delta }) => delta)
      .join('')
  const types = events.map(({ type }) => type.replace('response.', ''))
  if (item.type === 'message') return checkMessage(added, events, item)
  if (item.type === 'function_call') {
    assert.is(added.arguments, '')
    assert.is(joined('response.function_call_arguments.delta'), item.arguments)
    assert.match(types.join(' '), /^(?:function_call_arguments\.delta )*function_call_arguments\.done$/)
    assert.is(events.at(-1).arguments, item.arguments)
    assert.type(JSON.parse(item.arguments), 'object')
  } else if (item.type === 'custom_tool_call') {
    assert.is(joined('response.custom_tool_call_input.delta'), item.input)
    assert.match(types.join(' '), /^(?:custom_tool_call_input\.delta )*custom_tool_call_input\.done$/)
  } else if (item.type === 'reasoning') {
    assert.equal(added.summary, [])
    const text = item.summary.map((part: WireEvent) => part.text).join('')
    assert.is(joined('response.reasoning_summary_text.delta'), text)
    const whole =
      /^reasoning_summary_part\.added (?:reasoning_summary_text\.delta )+reasoning_summary_text\.done reasoning_summary_part\.done$/
    assert.match(types.join(' '), text === '' ? /^$/ : whole)
  }
}

function checkMessage(added: WireEvent, events: readonly WireEvent[], item: WireEvent): void {
  assert.equal(added.content, [])
  const grammar =
    /^(?:content_part\.added (?:(?:output_text\.(?:delta|annotation\.added) )*output_text\.done|(?:refusal\.delta )+refusal\.done) content_part\.done ?)*$/
  assert.match(events.map(({ type }) => type.replace('response.', '')).join(' '), grammar)
  for (const [index, part] of item.content.entries()) {
    const own = events.filter((event) => event.content_index === index)
    const text = own.map(({ type, delta }) => (type.endsWith('.delta') ? delta : '')).join('')
    assert.is(text, part.type === 'refusal' ? part.refusal : part.text)
    assert.equal(own.at(-1).part, part)
  }
}
