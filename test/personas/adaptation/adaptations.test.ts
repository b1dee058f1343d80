import * as assert from 'uvu/assert'
import { adaptationRequest } from '../../../src/personas/adaptation/request.ts'
import { halfLifeMs } from '../../../src/personas/adaptation/rules.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { pluck } from '../../helpers/pluck.ts'
import { rejects } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'

const service = suite('adaptation of a persona')

async function withPersona(
  use: (shop: Shop, persona: Persona) => Promise<void>,
  settings: Persona['mutation_settings'] | null = null,
) {
  using shop = await openShop()
  const { mutation_settings: _settings, ...persona } = await shop.stock('u1', 0)
  await use(shop, await fresh(shop, { ...persona, ...(settings && { mutation_settings: settings }) }))
}

/** The persona as one that has learned nothing yet. */
async function fresh(shop: Shop, persona: Persona): Promise<Persona> {
  shop.db.exec('DELETE FROM adaptation; DELETE FROM persona_state')
  return persona
}

function requestOf(
  changes: unknown,
  adaptation_type = 'weight_adjusted',
  trigger_event = 'explicit_instruction',
  more: object = {},
) {
  return adaptationRequest.parse({ adaptation_type, trigger_event, changes, ...more })
}

service('shows the persona’s own sensitivity before anything is learned', () =>
  withPersona(async (shop, persona) => assert.is((await shop.adaptation.state(persona)).sensitivity, 'high'), {
    enabled: true,
    sensitivity: 'high',
  }),
)

service('refuses a request that names too much before it looks at any of it', () => {
  let looks = 0
  const watched = (count: number) => {
    const map = {}
    for (let at = 0; at < count; at++)
      Object.defineProperty(map, `t${at}`, { enumerable: true, get: () => Number(++looks > 0) })
    return map
  }
  for (const [changes, message] of [
    [{ behavioral_weights: watched(100_000) }, /behavioral_weights must name at most 200/],
    [{ learned_preferences: watched(201) }, /learned_preferences must name at most 200/],
    [
      new Proxy(Array.from({ length: 65 }), { get: (list, key) => (key === 'length' ? list.length : looks++) }),
      /at most 64/,
    ],
  ] as const) {
    const { error } = adaptationRequest.safeParse({
      adaptation_type: 'weight_adjusted',
      trigger_event: 'user_edit',
      changes,
    })
    assert.match(error?.issues.map((issue) => issue.message).join() ?? '', message)
  }
  assert.is(looks, 0)
  const long = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`p${at}`, 'x'.repeat(1_900)]))
  assert.throws(() => requestOf({ learned_preferences: long }, 'preference_set'), /longer than 65,536 characters/)
})

service('learns as much as can be written with each change, and no more', () =>
  withPersona(async (shop, persona) => {
    const learn = (round: number) =>
      shop.adaptation.adapt(
        persona,
        requestOf(
          {
            learned_preferences: Object.fromEntries(
              Array.from({ length: 30 }, (_, at) => [`p${round} ${at}`, 'x'.repeat(1_900)]),
            ),
          },
          'preference_set',
        ),
      )
    for (let round = 0; round < 4; round++) await learn(round)
    await rejects(learn(4), 'invalid', /cannot learn that much/)
    assert.is(Object.keys((await shop.adaptation.state(persona)).learned_preferences).length, 120)
    // A change that makes it smaller is accepted.
    const { state } = await shop.adaptation.adapt(persona, requestOf([{ preference: 'p0 0' }], 'preference_removed'))
    assert.is(Object.keys(state.learned_preferences).length, 119)
  }),
)

service('begins with the defaults and the time of the persona’s creation', () =>
  withPersona(async (shop, persona) => {
    const state = await shop.adaptation.state(persona)
    assert.equal(
      { ...state, log_hash: undefined },
      {
        persona_id: persona.id,
        user_id: 'u1',
        adaptation_level: 0,
        learned_preferences: {},
        behavioral_weights: {},
        last_mutation: persona.created_at,
        pinned_traits: [],
        sensitivity: 'medium',
        frozen: false,
        enabled: true,
        records: 0,
        log_hash: undefined,
      },
    )
  }),
)

service('takes the three shapes of changes alike', () =>
  withPersona(async (shop, persona) => {
    const { record } = await shop.adaptation.adapt(persona, requestOf([{ trait: 'verbosity', target: -0.5 }]))
    assert.equal(record.changes, [
      {
        path: '/behavioral_weights/verbosity',
        before: null,
        after: -0.075,
        reason: 'explicit_instruction: 0.15 × 1 of the way to -0.5 (medium)',
      },
      { path: '/pinned_traits/verbosity', before: null, after: true, reason: 'explicit_instruction' },
    ])
    await shop.adaptation.adapt(persona, requestOf([{ preference: 'tone', value: 'dry' }], 'preference_set'))
    const { state } = await shop.adaptation.adapt(
      persona,
      requestOf({ behavioral_weights: { warmth: 1 }, learned_preferences: { units: 'metric' } }),
    )
    assert.equal(state.behavioral_weights, { verbosity: -0.075, warmth: 0.1 })
    assert.equal(Object.keys(state.learned_preferences), ['tone', 'units'])
    assert.equal([state.records, state.adaptation_level], [3, 0.145833])
  }),
)

service('accepts types and triggers that it does not know, as inferred', () =>
  withPersona(async (shop, persona) => {
    const { state } = await shop.adaptation.adapt(
      persona,
      requestOf([{ trait: 'zeal', target: 1 }], 'tone_shift', 'user_said_so'),
    )
    assert.equal(state.behavioral_weights, { zeal: 0.03 })
    assert.equal(state.pinned_traits, [])
  }),
)

const unfit: readonly (readonly [type: string, changes: unknown, problem: RegExp])[] = [
  ['weight_adjusted', [], /at least one/],
  ['weight_adjusted', [{ trait: 'x' }], /changes\[0\] needs a target/],
  ['preference_set', [{ preference: 'x' }], /changes\[0\] needs a value/],
  ['preference_set', [{ trait: 'x', target: 1 }], /takes preferences/],
  ['weight_adjusted', [{ record: 'x' }], /only rollback/],
  ['rollback', [{ trait: 'x', target: 1 }], /id of one record/],
  ['trait_pinned', [{ trait: 'x', target: 1 }], /stays where it stands/],
  ['decay_applied', [{ trait: 'x', target: 1 }], /must be empty/],
  ['state_reset', [{ record: 'x' }], /use rollback/],
]

for (const [type, changes, problem] of unfit)
  service(`refuses ${JSON.stringify(changes)} as ${type}`, () =>
    withPersona(async (shop, persona) => {
      await rejects(shop.adaptation.adapt(persona, requestOf(changes, type)), 'invalid', problem)
    }),
  )

service('refuses names, numbers and values that no state should hold', () => {
  const bad = [
    [{ trait: '__proto__', target: 1 }],
    [{ trait: 'a\nb', target: 1 }],
    [{ trait: '', target: 1 }],
    [{ trait: 'x', target: 1.01 }],
    [{ trait: 'x', target: Number.NaN }],
    [{ preference: 'x', value: 'y'.repeat(3000) }],
    [{ trait: 'x', target: 1, more: 1 }],
    { behavioral_weights: { x: '1' } },
    Array.from({ length: 65 }, () => ({ trait: 'x', target: 1 })),
  ]
  for (const changes of bad)
    assert.is(
      adaptationRequest.safeParse({ adaptation_type: 'a', trigger_event: 'b', changes }).success,
      false,
      JSON.stringify(changes).slice(0, 80),
    )
  for (const word of ['', 'Upper', '1st', 'a-b', 'a'.repeat(65)])
    assert.is(
      adaptationRequest.safeParse({ adaptation_type: word, trigger_event: 'b', changes: [{ trait: 'x', target: 1 }] })
        .success,
      false,
    )
})

service('counts a request once that comes twice under one key', () =>
  withPersona(async (shop, persona) => {
    const request = requestOf([{ trait: 'warmth', target: 1 }], 'weight_adjusted', 'feedback_positive', {
      idempotency_key: 'k1',
    })
    const [first, second] = [
      await shop.adaptation.adapt(persona, request),
      await shop.adaptation.adapt(persona, request),
    ]
    assert.is(second.record.id, first.record.id)
    assert.equal(second.state, first.state)
    const many = await Promise.all(
      Array.from({ length: 5 }, () => shop.adaptation.adapt(persona, { ...request, idempotency_key: 'k2' })),
    )
    assert.is(new Set(many.map(({ record }) => record.id)).size, 1)
    assert.is((await shop.adaptation.state(persona)).records, 2)
  }),
)

service('undoes, and undoes the undoing, and says which record undid which', () =>
  withPersona(async (shop, persona) => {
    const { record: first } = await shop.adaptation.adapt(persona, requestOf([{ trait: 'warmth', target: 1 }]))
    const { state: before } = await shop.adaptation.adapt(persona, requestOf([{ trait: 'verbosity', target: 1 }]))
    const undo = (id: string) =>
      shop.adaptation.adapt(persona, requestOf([{ record: id }], 'rollback', 'manual_request'))
    const { state, record } = await undo(first.id)
    assert.equal(state.behavioral_weights, { verbosity: 0.1 })
    assert.equal(pluck(record.changes as { path: string }[], 'path'), [
      '/behavioral_weights/warmth',
      '/pinned_traits/warmth',
    ])
    await rejects(undo(first.id), 'invalid', /undone already/)
    await rejects(undo('nothing'), 'not_found', /not found/)
    const { records } = await shop.adaptation.log(persona, { limit: 2, offset: 1 })
    assert.equal(pluck(records, 'undone_by'), [undefined, record.id])
    assert.equal((await undo(record.id)).state.behavioral_weights, before.behavioral_weights)
  }),
)

service('freezes while it is switched off, says so, and goes on where it stood', () =>
  withPersona(async (shop, persona) => {
    const request = requestOf([{ trait: 'warmth', target: 1 }], 'weight_adjusted', 'feedback_positive')
    await shop.adaptation.adapt(persona, request)
    const off: Persona = { ...persona, mutation_settings: { enabled: false } }
    await shop.adaptation.settingsChanged(persona, off)
    shop.clock.now += halfLifeMs
    const state = await shop.adaptation.state(off)
    assert.equal([state.enabled, state.frozen, state.behavioral_weights], [false, true, { warmth: 0.09 }])
    const error = await rejects(shop.adaptation.adapt(off, request), 'invalid', /switched off.*frozen/)
    assert.is(error.status, 400)
    await shop.adaptation.settingsChanged(off, persona)
    assert.equal((await shop.adaptation.state(persona)).behavioral_weights, { warmth: 0.09 })
    assert.equal((await shop.packages.verifyStored(persona)).problems, [])
  }),
)

const noticed = { trigger_event: 'user_correction', signals: [{ trait: 'verbosity', target: -1 }] } as const

service('learns from chat by itself only as the settings say', async () => {
  await withPersona(async (shop, persona) => assert.is(await shop.adaptation.observe(persona, noticed), undefined))
  await withPersona(
    async (shop, persona) => {
      for (let time = 0; time < 3; time++) await shop.adaptation.observe(persona, noticed)
      assert.equal((await shop.adaptation.state(persona)).behavioral_weights, { verbosity: -0.09 })
    },
    { enabled: true, auto_adapt: true },
  )
  await withPersona(
    async (shop, persona) => {
      const proposal = (await shop.adaptation.observe(persona, { ...noticed, idempotency_key: 'm1' }))!
      assert.is((await shop.adaptation.observe(persona, { ...noticed, idempotency_key: 'm1' }))?.id, proposal.id)
      assert.equal((await shop.adaptation.state(persona)).behavioral_weights, {})
      assert.is(proposal.status, 'proposed')
      assert.equal((proposal.changes as { after: unknown }[])[0]?.after, -0.09)
      const answer = (type: string) =>
        shop.adaptation.adapt(persona, requestOf([{ record: proposal.id }], type, 'manual_request'))
      assert.equal((await answer('proposal_accepted')).state.behavioral_weights, { verbosity: -0.1 })
      await rejects(answer('proposal_declined'), 'invalid', /was answered by/)
      const other = (await shop.adaptation.observe(persona, noticed))!
      await shop.adaptation.adapt(persona, requestOf([{ record: other.id }], 'proposal_declined'))
      assert.equal((await shop.adaptation.state(persona)).behavioral_weights, { verbosity: -0.1 })
    },
    { enabled: true },
  )
})

service('holds a persona to a number of things it can learn', () =>
  withPersona(async (shop, persona) => {
    const many = (from: number) => Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`t${from + at}`, 1]))
    for (const from of [0, 64, 128]) await shop.adaptation.adapt(persona, requestOf({ behavioral_weights: many(from) }))
    await rejects(
      shop.adaptation.adapt(persona, requestOf({ behavioral_weights: many(192) })),
      'invalid',
      /at most 200 traits/,
    )
  }),
)

service('notices a record that was changed in the database', () =>
  withPersona(async (shop, persona) => {
    await shop.adaptation.adapt(persona, requestOf([{ trait: 'warmth', target: 1 }]))
    shop.db.exec(`UPDATE adaptation SET record = replace(record, '"target":1', '"target":0.5')`)
    const result = await shop.packages.verifyStored(persona)
    assert.is(result.valid, false)
    assert.match(result.problems.join(), /adaptation_log\[0\].*does not match its hash/)
    assert.match(result.problems.join(), /state: it differs from the state that the log gives/)
    assert.is.not(result.expected, result.actual)
  }),
)

service.run()
