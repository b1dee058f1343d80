import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { plainPng, writePngTexts } from '../../../src/formats/png-text.ts'
import { type Installation, openInstallation } from '../../installation.ts'
import { suite } from '../../suite.ts'
import { openFastHome } from '../../terminal.ts'
import { zipOf } from '../package/package-forge.ts'

const cards = suite('unused parts of a character card')

let installation: Installation
let url = ''

cards.before(async () => {
  installation = openInstallation()
  url = await installation.serve()
})

cards.after(() => installation.close())

const texts = { description: 'A poet', personality: 'kind', scenario: '', mes_example: '' }
const data = { name: 'Ada', ...texts, first_mes: '', creator_notes: '', system_prompt: '', extensions: {} }
const card = (more: object) => ({ spec: 'chara_card_v2', spec_version: '2.0', data: { ...data, ...more } })

async function send(path: string, body: object | Buffer) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const response = await fetch(`${url}/api/personas/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what is tested
  return { status: response.status, body: (await response.json()) as any }
}

cards('is a warning of its import: the lorebook, and the greetings', async () => {
  const full = card({
    first_mes: 'Good day.',
    alternate_greetings: ['Hello.', 'Hi.'],
    character_book: { entries: [{ keys: ['engine'], content: 'Made of brass.' }] },
  })
  const { status, body } = await send('import?model=m', full)
  assert.equal(
    [status, body.warnings],
    [
      201,
      [
        "The card's lorebook (1 entry) is kept but not used in chats",
        "The card's greetings (3) are kept but not used in chats",
      ],
    ],
  )
  assert.equal(
    (await send('import?model=m', card({ alternate_greetings: [], character_book: { entries: [] } }))).body.warnings,
    [],
  )
})

cards('are reported on stderr too', async () => {
  const home = openFastHome()
  const file = join(home.folder, 'ada.json')
  writeFileSync(file, JSON.stringify(card({ first_mes: 'Good day.' })))
  const { code, stderr } = await home.aichat(['persona', 'import', file, '--model', 'm'])
  home.remove()
  assert.is(code, 0, stderr)
  assert.match(stderr, /The card's greetings \(1\) are kept but not used in chats/)
})

const first = { name: 'Ada', ...texts, first_mes: 'Good day.' }
const letta = { agents: [], groups: [], blocks: [], files: [], sources: [], tools: [], mcp_servers: [], metadata: {} }
const png = writePngTexts(plainPng(8), [
  { keyword: 'chara', text: Buffer.from(JSON.stringify(first)).toString('base64') },
])
const charx = zipOf([
  { name: 'card.json', data: Buffer.from(JSON.stringify(card({}))) },
  { name: 'assets/icon/main.png', data: plainPng(8) },
])

for (const [name, file] of [
  ['a V1 character card', first],
  ['a V1 character card', png],
  ['a CHARX archive', charx],
  ['a Letta agent file', letta],
  ['a Letta agent file', { agent_type: 'memgpt_agent', core_memory: [], messages: [], tools: [], llm_config: {} }],
] as const)
  cards(
    `is all of ${name}, which is refused by that name (${Buffer.isBuffer(file) ? 'bytes' : Object.keys(file).length})`,
    async () => {
      const { status, body } = await send('import?model=m', file)
      assert.is(status, 400)
      assert.match(body.error, new RegExp(`^This is ${name}.*, which is not read yet`))
    },
  )

cards.run()
