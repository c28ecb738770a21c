import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: { index: 'src/index.ts', pglite: 'src/dialects/pglite/index.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  fixedExtension: false,
})
