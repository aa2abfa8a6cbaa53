import { defineConfig } from 'vite';

// Sources of the scenes and fabrics are the repository's own; the simulator is copied to public/core by `make web`.
export default defineConfig({
  base: './',
  worker: { format: 'es' },
  build: { outDir: 'dist', target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 1200 },
  server: {
    fs: { allow: ['..'] },
    headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
  },
});
