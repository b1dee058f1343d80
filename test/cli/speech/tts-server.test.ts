import * as assert from 'uvu/assert'
import { openHome } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { openSpeech, type SpeechServer } from '../../helpers/speech/speech-server.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat --server with the address of a speech server')
const home = openHome()
test.after(() => home.remove())
const environment = { AICHAT_HOME: home.folder, HOME: home.folder }
let server: SpeechServer
test.before(async () => {
  server = await openSpeech('voxb-tts')
})
test.after(() => server.close())

test('a command reports a speech server, with the next step', async () => {
  for (const words of [
    ['chat', 'hi'],
    ['chat', 'hi', '-S'],
    ['plugin', 'list'],
    ['setup', '--username', 'ada', '--password-stdin'],
    ['tts', 'Hello.'],
  ]) {
    const { code, stderr } = await runMain([...words, '--server', server.url], { environment, input: 'Passw0rd' })
    assert.is(code, 69, `${words.join(' ')}: ${stderr}`)
    assert.match(stderr, /is a speech server, without the REST API\n.*--server/)
  }
})

test.run()
