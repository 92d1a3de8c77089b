import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { routes } from './routes.ts';

const API = `http://127.0.0.1:${process.env.PORT ?? 3000}`;
/** Text that is worth compressing; each is stored in three encodings, so that no answer is compressed twice. */
const TEXT = /\.(html|js|css|svg)$/;

/** In one file each, because the headers of an answer are longer than many a part: what every page has, and what most have. */
const groups = [
  { name: 'connection', test: /node_modules|web\/(api|texts)\//, minShareCount: 8, priority: 1 },
  { name: 'parts', test: /web\/components\/(?!body|format)[^/]+\.(ts|tsx|css)$/, minShareCount: 4 },
];

/** Writes what the API process needs to serve the files: the routes, and compressed copies. */
function site(): Plugin {
  let folder = '';
  return {
    name: 'docket-site',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir;
    },
    writeBundle() {
      for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!TEXT.test(file)) continue;
        const content = readFileSync(join(folder, file));
        writeFileSync(join(folder, `${file}.br`), brotliCompressSync(content));
        writeFileSync(join(folder, `${file}.gz`), gzipSync(content, { level: 9 }));
      }
      // last: a folder without it is not whole
      writeFileSync(join(folder, 'site.json'), JSON.stringify({ routes: Object.values(routes).map((r) => r.path) }));
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [site()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    // nothing inline: the policy of the served pages has no `data:`
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: {
    // docket: the console's own files come from Vite, everything else from a running Docket
    proxy: Object.fromEntries(['/v1', '/docs', '/openapi.json', '/readyz', '/livez', '/metrics'].map((p) => [p, API])),
  },
});
