// @ts-check
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, root } from './process.mjs'

const OWN = ['@tidemark/core', '@tidemark/api', '@tidemark/client']
const PEERS = [
  '@trpc/client',
  '@trpc/server',
  '@types/express',
  '@types/node',
  '@types/pg',
  '@types/react',
  'express',
  'kysely',
  'pg',
  'react',
]
/** The compilers a user may have; the alias is the folder below node_modules. */
const COMPILERS = { typescript6: '6.0.3', typescript7: '7.0.2' }

/**
 * An app outside the workspace that installs the tarballs and compiles against them with `skipLibCheck: false`, under
 * each compiler; its sources are in `scripts/consumer/`.
 *
 * @param {string} temp
 * @param {readonly string[]} tarballs
 * @param {number} expected   how many tarballs there must be
 * @returns {{ title: string, run: () => Promise<string | undefined> }[]}
 */
export function checkConsumer(temp, tarballs, expected) {
  const folder = join(temp, 'consumer')
  let installed = false

  const install = async () => {
    if (tarballs.length !== expected) return `only ${tarballs.length} of ${expected} tarballs were made`
    mkdirSync(folder)
    cpSync(join(root, 'scripts', 'consumer'), folder, { recursive: true })
    const catalog = readCatalog()
    const dependencies = {
      ...Object.fromEntries(OWN.map((name) => [name, `file:${tarballOf(name, tarballs)}`])),
      ...Object.fromEntries(PEERS.map((name) => [name, catalog(name)])),
      ...Object.fromEntries(Object.entries(COMPILERS).map(([alias, version]) => [alias, `npm:typescript@${version}`])),
    }
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'consumer', private: true, type: 'module', dependencies }, null, 2),
    )
    const { code, output } = await capture(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'],
      { cwd: folder, env: cleanEnv() },
    )
    installed = code === 0
    return installed ? undefined : output
  }

  /** @param {string} command @param {readonly string[]} args */
  const runInstalled = async (command, args) => {
    if (!installed) return 'the packages were not installed'
    const { code, output } = await capture(command, args, { cwd: folder, env: cleanEnv() })
    return code === 0 ? undefined : output.trim() || `exit code ${code}`
  }

  const compiles = Object.entries(COMPILERS).flatMap(([alias, version]) =>
    ['app', 'browser'].map((program) => ({
      title: `${program} compiles under TypeScript ${version}, and its mistakes do not`,
      run: () =>
        runInstalled(process.execPath, [join('node_modules', alias, 'bin', 'tsc'), '-p', `tsconfig.${program}.json`]),
    })),
  )
  return [
    { title: 'the tarballs install with npm', run: install },
    { title: 'each entry can be imported', run: () => runInstalled(process.execPath, ['import-all.mjs', ...OWN]) },
    ...compiles,
  ]
}

/**
 * @param {string} name
 * @param {readonly string[]} tarballs
 */
function tarballOf(name, tarballs) {
  const stem = name.slice(1).replace('/', '-')
  const file = tarballs.find((path) => path.includes(`${stem}-`))
  if (file === undefined) throw new Error(`there is no tarball of ${name}`)
  return file
}

/** The versions of the workspace's catalog, so that the consumer has what the tests have. */
function readCatalog() {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  /** @param {string} name */
  return (name) => {
    const version = new RegExp(`^  '?${name.replaceAll('/', '\\/')}'?: (\\S+)$`, 'm').exec(text)?.[1]
    if (version === undefined) throw new Error(`${name} is not in the catalog of pnpm-workspace.yaml`)
    return version
  }
}

/** Without what pnpm sets for its scripts: npm would read it as its own configuration. */
function cleanEnv() {
  return Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => /^npm_(config|package|lifecycle)_/i.test(name))
      .map((name) => [name, undefined]),
  )
}
