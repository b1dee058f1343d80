/** The provider of the gateway bench: answers at once, streams at once, or streams at a steady pace. Prints its port. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { completion, completionEvents } from '../../fake-provider.ts'

const words = Array.from({ length: 20 }, (_, index) => `word${index} `)
const whole = JSON.stringify({ ...completion(words.join('').repeat(2)) })
const events = completionEvents(words)
/** The first event after 20 ms, then one every 2 ms: a fast provider. */
const pace = { first: 20, next: 2 }

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString()
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) })
      response.end(whole)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (!body.includes('paced')) return void response.end(events.join(''))
    let index = 0
    const send = () => {
      response.write(events[index++]!)
      if (index < events.length) setTimeout(send, pace.next)
      else response.end()
    }
    setTimeout(send, pace.first)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
