import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: { index: 'src/index.ts', react: 'src/react/index.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  tsconfig: 'tsconfig.src.json',
  // The compiler's resolver knows the source condition, so the wire's types are found without a build of their package
  // ...
  dts: { resolver: 'tsc' },
  // ... and are copied in: installing the client brings no server package.
  deps: { alwaysBundle: ['@tidemark/api/protocol'] },
  fixedExtension: false,
})
