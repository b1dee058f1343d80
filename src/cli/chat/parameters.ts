export { type Parameters, parseParameter } from '../terminal/parameters.ts'
