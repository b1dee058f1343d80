import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { serveHere } from '../../helpers/program/daemon.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat service and doctor --service')

type Check = { readonly check: string; readonly status: string; readonly detail: string; readonly fix?: string }

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

test('doctor --service names a port that our own daemon has, one of another program, and what production lacks', async () => {
  const home = openFastHome()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const checksAt = async (taken: number, environment: Record<string, string> = {}) => {
    writeFileSync(join(home.folder, 'config.json'), JSON.stringify({ 'api.port': String(taken) }))
    const { code, stdout } = await home.aichat(['doctor', '--service', '--json'], { environment })
    const { checks } = JSON.parse(stdout) as { checks: readonly Check[] }
    return {
      code,
      failed: checks
        .filter(({ status }) => status === 'failed')
        .map(({ detail }) => detail)
        .join('\n'),
    }
  }
  const strange = await checksAt(port, { NODE_ENV: 'production' })
  assert.is(strange.code, 1)
  assert.match(strange.failed, `port ${port} of api is taken by another program`)
  assert.match(strange.failed, 'NODE_ENV=production demands')
  other.close()
  const daemon = await serveHere({}, home.folder)
  const own = await checksAt(Number(new URL(daemon.url).port))
  assert.match(own.failed, new RegExp(`of api is taken by aichat .* \\(pid ${process.pid}\\)`))
  assert.is(await daemon.stop(), 0)
  const missing = { AICHAT_TLS_CERT: '/nowhere/cert.pem', AICHAT_TLS_KEY: '/nowhere/key.pem' }
  assert.match((await checksAt(1, missing)).failed, '/nowhere/key.pem is not there')
  home.remove()
})

test('doctor --service names the closed folder that hides a program from the unit', async () => {
  const { closedTo } = await import('../../../src/cli/service/doctor-service.ts')
  const home = openFastHome()
  // The folder of this run of tests is closed, too.
  chmodSync(dirname(home.folder), 0o711)
  const inside = join(home.folder, 'program')
  writeFileSync(inside, '')
  chmodSync(inside, 0o755)
  chmodSync(home.folder, 0o700)
  assert.is(closedTo(inside), home.folder)
  chmodSync(home.folder, 0o755)
  assert.is(closedTo(inside), undefined)
  chmodSync(inside, 0o700)
  assert.is(closedTo(inside), inside)
  home.remove()
})

test.run()
