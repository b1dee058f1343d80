import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'
import { withKeyDaemon } from './key-daemon.ts'

const test = suite('the times of models')

test('models have a time: of their plugin’s list, else of the installation', () =>
  withKeyDaemon(async ({ url, ada, call, installation }) => {
    const { plugins } = installation.app
    await plugins.revise('second', (plugin) => ({ ...plugin, models_as_of: '2026-08' }))
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token })
    assert.is((await openai.models.retrieve('second:m-two')).created, Date.parse('2026-08') / 1000)
    const { created } = await openai.models.retrieve('m-one')
    assert.ok(created <= Date.now() / 1000 && created > Date.now() / 1000 - 3600, String(created))
    const anthropic = await call('GET', '/v1/models/second:m-two', {
      token: ada.token,
      headers: { 'anthropic-version': '2023-06-01' },
    })
    assert.is(anthropic.body.created_at, '2026-08-01T00:00:00.000Z')
  }))

test.run()
