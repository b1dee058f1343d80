import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what a speech server tells of itself')

test('its port has log lines, and metrics of queue and chunks, all without the text', async () => {
  const home = temporaryFolder()
  const stopping = new AbortController()
  let stderr = ''
  let told: (url: string) => void = () => {}
  const listening = new Promise<string>((resolve) => {
    told = resolve
  })
  const ended = runMain(['serve', 'voxa-tts', '--host', '127.0.0.1', '--port', '0'], {
    environment: {
      ...{ AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9' },
    },
    signal: stopping.signal,
    heard(_name, text) {
      stderr += text
      const url = /serves voxa-tts on (http:\/\/[\d.]+:\d+)/.exec(stderr)?.[1]
      if (url) told(url)
    },
  })
  try {
    const url = await Promise.race([listening, ended.then(({ stderr }) => Promise.reject(new Error(stderr)))])
    const body = JSON.stringify({ input: 'Unspeakable secret.' })
    const headers = { 'content-type': 'application/json' }
    const audio = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body })
    assert.is(audio.status, 200)
    await audio.arrayBuffer()
    const text = await (await fetch(`${url}/metrics`)).text()
    for (const line of [
      'aichat_speech_chunks_total{server="voxa-tts",outcome="spoken"} 1',
      'aichat_speech_chunk_seconds_count{server="voxa-tts"} 1',
      'aichat_speech_requests{server="voxa-tts"} 0',
      'aichat_http_requests_total{method="POST",route="/v1/audio/speech",server="voxa-tts",status="200"} 1',
    ])
      assert.ok(text.split('\n').includes(line), `${line}\n${text}`)
    assert.match(text, /^aichat_speech_queue_seconds_count\{server="voxa-tts"\} [1-9]/m)
    const elsewhere = await fetch(`${url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    assert.is(elsewhere.status, 403, 'there are no logins here that would open it')
    assert.match(stderr, /"route":"\/v1\/audio\/speech","status":200,.*"server":"voxa-tts"/)
    stopping.abort()
    await ended
    assert.not.match(stderr + text, /Unspeakable/)
  } finally {
    stopping.abort()
    await ended
  }
})

test.run()
