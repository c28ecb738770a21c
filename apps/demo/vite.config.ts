import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // Naming one condition drops Vite's own, so they are listed again.
  resolve: { conditions: ['@tidemark/source', 'module', 'browser', 'development|production'] },
  build: { target: 'es2022' },
})
