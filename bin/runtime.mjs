// Puts the neural runtime beside the program: the JavaScript of onnxruntime-node and the CPU libraries that its npm file holds.
// As a dependency of the published package its install script would download CUDA libraries of some hundred megabytes, and
// where it cannot, npm leaves the package out without a word.
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The platforms of the published package. Windows would take as much again. */
export const publishedPlatforms = ['linux/x64', 'linux/arm64', 'darwin/arm64']

/** Writes `dist/onnxruntime-node` below `root` anew for these platforms, each `<platform>/<architecture>` as Node names them. */
export function placeRuntime(root, platforms = [`${process.platform}/${process.arch}`]) {
  const manifest = createRequire(join(root, 'package.json')).resolve('onnxruntime-node/package.json')
  const from = dirname(manifest)
  const { name, version, license, main } = JSON.parse(readFileSync(manifest, 'utf8'))
  const fresh = join(root, 'dist', 'onnxruntime-node.new')
  rmSync(fresh, { recursive: true, force: true })
  const take = (folder, wanted) => {
    mkdirSync(join(fresh, folder), { recursive: true })
    for (const file of readdirSync(join(from, folder)).filter(wanted))
      linkOrCopy(join(from, folder, file), join(fresh, folder, file))
  }
  take('dist', (file) => file.endsWith('.js'))
  // A platform without a library has no neural models; `aichat doctor` says so.
  for (const platform of platforms.map((each) => join('bin', 'napi-v6', each)))
    if (existsSync(join(from, platform))) take(platform, (file) => !secondCopy.test(file))
  writeFileSync(join(fresh, 'LICENSE'), licence)
  const described = { name, version, license, type: 'commonjs', main, dependencies: { 'onnxruntime-common': version } }
  writeFileSync(join(fresh, 'package.json'), `${JSON.stringify(described, null, 2)}\n`)
  const place = join(root, 'dist', 'onnxruntime-node')
  rmSync(place, { recursive: true, force: true })
  renameSync(fresh, place)
}

/** The npm file holds macOS's library under two names; the binding loads `libonnxruntime.1.dylib`. */
const secondCopy = /\.\d+\.\d+\.\d+\.dylib$/

/** A hard link where the file system has them: the libraries take 45 MB a platform. */
function linkOrCopy(from, to) {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

/** The npm file names its licence and holds no text of it. */
const licence = `MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
