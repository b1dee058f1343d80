/** Holds a PostgreSQL and says where its data are, until this process is killed. */
import { openPostgres } from '../../helpers/postgres/server.ts'

const server = await openPostgres()
const [row] = await server.query('SHOW data_directory')
process.stdout.write(`\ndata in ${row![0]}\n`)
