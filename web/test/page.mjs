// web/test/page.mjs [NAME..]: drives the built page in Debian's Chromium. Every check says what it saw; one that fails twice ends it with 1.
// Pictures go to build/web-pictures. NAMEs choose checks by the start of their names.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './core.mjs';
import { serve } from './serve.mjs';
import { checks } from './checks.mjs';

const pictures = join(root, 'build/web-pictures');
mkdirSync(pictures, { recursive: true });
const { address, end } = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// One check in a window of its own; true if it holds. What fails is tried once more at the end: what fails twice is wrong.
async function holds(check, again) {
  const context = await browser.newContext({ viewport: check.size ?? { width: 640, height: 480 }, hasTouch: !!check.touch, colorScheme: check.dark ? 'dark' : 'light' });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
  page.on('pageerror', (e) => errors.push(String(e)));
  const from = Date.now();
  let good = true;
  try {
    const seen = await check.run({ page, address, picture: async (name) => {
      const data = await page.screenshot();
      writeFileSync(join(pictures, `${name}.png`), data);
      return data;
    } });
    if (errors.length && !check.errorsAllowed) throw new Error(`console: ${errors.join('; ')}`);
    console.log(`ok    ${check.name}${again ? ', the second time' : ''}: ${seen} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
  } catch (e) {
    good = false;
    writeFileSync(join(pictures, `failed-${check.name.replace(/\W+/g, '-')}.png`), await page.screenshot().catch(() => Buffer.alloc(0)));
    console.log(`${again ? 'FAIL ' : 'again'} ${check.name}: ${e.message.split('\n').slice(0, 4).join(' ')} ${errors.join('; ')}`);
  }
  await context.close();
  return good;
}

const wanted = process.argv.slice(2);
const again = [];
for (const check of checks)
  if ((!wanted.length || wanted.some((w) => check.name.startsWith(w))) && !(await holds(check, false))) again.push(check);
let failed = 0;
for (const check of again) if (!(await holds(check, true))) failed++;
await browser.close();
end();
process.exit(failed ? 1 : 0);
