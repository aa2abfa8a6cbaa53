// web/test/serve.mjs: the built page through `toile serve` (build/release/toile, or what TOILE names), on a free port.
import { spawn } from 'node:child_process';
import { existsSync, createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { root } from './core.mjs';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };

/** Serves `folder`; gives back its address and how to end it. */
export async function serve(folder = join(root, 'web/dist')) {
  const program = process.env.TOILE ?? join(root, 'build/release/toile');
  if (existsSync(program)) {
    const child = spawn(program, ['serve', folder, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const address = await new Promise((yes, no) => {
      let text = '';
      child.stdout.on('data', (d) => {
        text += d;
        const m = /http:\/\/[^\s]+/.exec(text);
        if (m) yes(m[0]);
      });
      child.on('exit', (code) => no(new Error(`toile serve ended with ${code}: ${text}`)));
    });
    return { address, end: () => child.kill() };
  }
  const server = createServer((q, a) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(q.url, 'http://x').pathname)).replace(/^\/$/, '/index.html'));
    if (!path.startsWith(folder) || !existsSync(path) || statSync(path).isDirectory()) return a.writeHead(404).end();
    a.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'application/octet-stream', 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' });
    createReadStream(path).pipe(a);
  });
  await new Promise((yes) => server.listen(0, '127.0.0.1', yes));
  return { address: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() };
}
