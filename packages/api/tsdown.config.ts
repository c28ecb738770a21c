import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: { index: 'src/index.ts', express: 'src/express.ts', protocol: 'src/protocol.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  fixedExtension: false,
})
