import { testData } from '../data.ts'
import { exchangeSuite } from './exchange-suite.ts'
import { loadExchanges } from './exchanges.ts'

const folder = testData('cassettes')

exchangeSuite('recorded traffic of the providers', folder === undefined ? undefined : loadExchanges(folder)).run()
