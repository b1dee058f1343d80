import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { settingNames } from '../../src/settings/read-settings.ts'
import { suite } from '../helpers/suite.ts'

interface Service {
  readonly environment: Readonly<Record<string, string>>
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.resolve('#package')))
const compose = parse(readFileSync(pathOf('./man/deploy/compose.yaml'), 'utf8')) as {
  readonly services: Readonly<Record<'aichat' | 'database' | 'proxy', Service>>
  readonly networks: { readonly inside: { readonly ipam: { readonly config: readonly [{ readonly subnet: string }] } } }
}
const { aichat, database, proxy } = compose.services

const test = suite('the files for containers')

test('set variables that aichat reads, and trust the proxy in their own network alone', () => {
  const read = Object.values(settingNames).map(({ variable }) => variable)
  const known = [...read, 'DATABASE_URL', 'JWT_SECRET', 'NODE_ENV']
  assert.equal(
    Object.keys(aichat.environment).filter((name) => !known.includes(name)),
    [],
  )
  assert.is(aichat.environment['TRUST_PROXY'], compose.networks.inside.ipam.config[0].subnet)
})

test('open no port but those of the proxy, and contain no secret', () => {
  assert.equal([aichat.ports, database.ports, proxy.ports?.length], [undefined, undefined, 3])
  for (const { environment } of [aichat, database])
    for (const [name, value] of Object.entries(environment))
      if (/SECRET|PASSWORD|URL/.test(name)) assert.match(value, /\$\{(?:JWT_SECRET|POSTGRES_PASSWORD):\?/)
})

test('have a Caddyfile that Caddy takes', () => {
  const config = pathOf('./man/deploy/Caddyfile')
  const env = { ...process.env, AICHAT_HOST: 'chat.example.org' }
  const { error, status, stderr } = spawnSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', config], {
    env,
    encoding: 'utf8',
  })
  if (error) process.stdout.write('skipped: the Caddyfile (caddy is not installed)\n')
  else assert.is(status, 0, stderr)
})

test.run()
