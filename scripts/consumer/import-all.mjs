// Imports each entry of the packages named as arguments, as installed, and says how many names each gives.
import { readFileSync } from 'node:fs'

for (const name of process.argv.slice(2)) {
  const { exports } = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8'))
  for (const entry of Object.keys(exports).filter((key) => key !== './package.json')) {
    const specifier = name + entry.slice(1)
    const names = Object.keys(await import(specifier))
    if (names.length === 0 && specifier !== '@tidemark/api/protocol') throw new Error(`${specifier} exports nothing`)
    console.log(`${specifier}: ${names.length} names`)
  }
}
