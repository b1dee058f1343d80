/** Pulls the test model of hub.test.ts: started as `ENDPOINT FOLDER REVISION`, beside another of its kind. */

import { openHttpClient } from '../../src/http-client/agent.ts'
import { openHub } from '../../src/model-hub/hub.ts'

const [endpoint = '', modelsFolder = '', revision = ''] = process.argv.slice(2)
const outbound = openHttpClient({ allowPrivate: true })
const file = (path: string) => ({ repository: 'acme/tiny', revision, path, as: path })
const editions = [{ folder: 'acme/tiny', files: [file('config.json'), file('onnx/model.onnx')] }]
const model = { name: 'tiny', kind: 'chat', licence: 'MIT', summary: '', editions } as const
const hub = openHub({
  modelsFolder,
  known: new Map([['tiny', model]]),
  endpoint,
  token: undefined,
  send: outbound.send,
})
await hub.pull('tiny')
await outbound.close()
