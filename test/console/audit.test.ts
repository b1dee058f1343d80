// With --all only: a browser.
import * as assert from 'uvu/assert'
import { goodPassword } from '../helpers/program/daemon.ts'
import { sceneSuite, withScene } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = sceneSuite('the audit in the console')

test.alone('administrators read in words who did what, by user, kind and page; others have no such view', () =>
  withScene(async (scene) => {
    const { call, register } = scene
    const { token } = await register('ada')
    await register('bob')
    await call('POST', '/api/auth/login', { body: { username: 'bob', password: 'Wr0ngpassword' } })
    for (let count = 0; count < 51; count++) await call('POST', '/api/plugins/activate/custom', { token })
    const made = await call('POST', '/api/users', { token, body: { username: 'zoe', password: goodPassword } })
    await call('DELETE', `/api/users/${made.body.id}`, { token })

    const visit = await logIn(scene, 'ada')
    const { page } = visit
    await goTo(visit, 'audit', 'Audit')
    await page.getByText('Deleted the user').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Login failed').waitFor()
    assert.is(await page.getByRole('row', { name: /Login failed.*bob.*127\.0\.0\.1/ }).count(), 1)
    await page.getByLabel('What').selectOption({ label: 'Users' })
    await page.getByText('2 in all').waitFor()
    assert.equal(await page.getByRole('row', { name: /ada (?:Deleted|Created) the user zoe/ }).count(), 2)
    await page.getByLabel('By').fill('bob')
    await page.getByText('Nothing matches').waitFor()
    assert.equal(visit.troubles, [])

    const other = await logIn(scene, 'bob')
    assert.is(await other.page.getByRole('link', { name: 'Audit' }).count(), 0)
  }),
)

test.run()
