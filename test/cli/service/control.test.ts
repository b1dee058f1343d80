import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat service')

test('where systemd runs the service, status and reload ask systemctl', async () => {
  const home = openFastHome()
  const folder = join(home.folder, 'bin')
  mkdirSync(folder)
  const answers = (state: string, reload: string) => {
    const show = `printf 'LoadState=loaded\\nActiveState=${state}\\nMainPID=4711\\nStatusText=serving api\\n'`
    writeFileSync(join(folder, 'systemctl'), `#!/bin/sh\ncase $1 in show) ${show};; reload) ${reload};; esac\n`)
    chmodSync(join(folder, 'systemctl'), 0o755)
  }
  const environment = { PATH: `${folder}:/usr/bin:/bin` }
  answers('active', 'exit 0')
  const status = await home.aichat(['service', 'status'], { environment })
  assert.is(status.code, 0, status.stderr)
  assert.match(status.stdout, /aichat\.service, active\n.*4711\n.*serving api/)
  assert.is((await home.aichat(['service', 'reload'], { environment })).code, 0)
  answers('active', 'echo "Job failed" >&2; exit 1')
  const refused = await home.aichat(['service', 'reload'], { environment })
  assert.is(refused.code, 78)
  assert.match(refused.stderr, /Job failed[\s\S]*journalctl/)
  answers('failed', 'exit 1')
  const failed = await home.aichat(['service', 'reload'], { environment })
  assert.is(failed.code, 69)
  assert.match(failed.stderr, /is failed: systemctl start/)
  home.remove()
})

test.run()
