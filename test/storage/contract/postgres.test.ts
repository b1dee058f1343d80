// With --all only: PostgreSQL.

import { keepContract } from './postgres.ts'

keepContract('others')
