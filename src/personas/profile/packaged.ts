import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Fields } from '../fields.ts'
import { type ProfileLine, profileSlots } from '../profile-line.ts'
import { lineText, type Profile, profileLimits } from './profile.ts'

/** The top-level field of a package with the profile: programs that do not know it carry it along. */
export const profileField = 'profile'

const packagedLine = z.object({
  slot: z.enum(profileSlots),
  about: z.string().max(profileLimits.about).default(''),
  text: z.string(),
  by: z.enum(['rule', 'model', 'hand']).default('hand'),
  created_at: z.int().min(0),
  memory_digest: z.exactOptional(z.string().regex(/^[0-9a-f]{32}$/)),
  ended_at: z.exactOptional(z.int().min(0)),
})

const packagedProfile = z.object({ lines: z.array(z.unknown()), history: z.array(z.unknown()).default([]) })

/** A profile as a package holds it: without ids, which would change with an import. Absent for an empty one. */
export function packagedFields({ lines, history }: Profile): Fields {
  if (lines.length === 0 && history.length === 0) return {}
  const packaged = (all: readonly ProfileLine[]) => all.map(({ id: _id, memory_id: _memory, ...line }) => line)
  return { [profileField]: { lines: packaged(lines), history: packaged(history) } }
}

/** The profile of a package; undefined for none. Throws `invalid` for one that breaks a bound. */
export function profileIn(extra: Fields): Profile | undefined {
  if (extra[profileField] === undefined) return undefined
  const { data } = packagedProfile.safeParse(extra[profileField])
  if (!data) throw new AppError('invalid', 'The profile of the package is no list of lines')
  for (const [list, most] of [
    [data.lines, profileLimits.lines],
    [data.history, profileLimits.history],
  ] as const)
    if (list.length > most)
      throw new AppError('invalid', `The profile of the package has ${list.length} lines, and may have ${most}`)
  return { lines: data.lines.map(lineOf), history: data.history.map(lineOf) }
}

function lineOf(value: unknown): ProfileLine {
  const { data } = packagedLine.safeParse(value)
  if (!data) throw new AppError('invalid', 'The profile of the package has an invalid line')
  return { ...data, text: lineText(data.text), id: randomUUID() }
}

/** The packaged profile without the lines that `isGoing` says; undefined where none goes. */
export function packagedWithout(extra: Fields, isGoing: (line: ProfileLine) => boolean): Fields | undefined {
  const profile = profileIn(extra)
  if (!profile) return undefined
  const stays = (line: ProfileLine) => !isGoing(line)
  const [lines, history] = [profile.lines.filter(stays), profile.history.filter(stays)]
  if (lines.length === profile.lines.length && history.length === profile.history.length) return undefined
  const { [profileField]: _profile, ...others } = extra
  return { ...others, ...packagedFields({ lines, history }) }
}
