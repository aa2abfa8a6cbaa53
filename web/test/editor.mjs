// web/test/editor.mjs: checks of the pattern editor, by clicks, keys and files alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './core.mjs';
import { colours, expect, open } from './ways.mjs';

const store = (page) => page.evaluate(() => JSON.parse(JSON.stringify(window.toile.editor().store.pattern)));
const arranged = (page) => page.evaluate(() => Number(document.querySelector('#editor').dataset.arranged ?? 0));

export async function openEditor(page, address) {
  await open(page, address);
  await page.click('#tab-editor');
  await page.waitForFunction(() => document.querySelector('#editor').dataset.arranged, null, { timeout: 60000 });
}

/** Where a point of the sheet [m] is in the window. */
const place = (page, x, y) => page.evaluate(([px, py]) => {
  const { sheet } = window.toile.editor();
  const r = sheet.svg.getBoundingClientRect();
  const [sx, sy] = sheet.toScreen([px, py]);
  return [r.left + sx, r.top + sy];
}, [x, y]);
async function click(page, x, y, options = {}) {
  await page.mouse.click(...(await place(page, x, y)), options);
}
async function settle(page, act) {
  const before = await arranged(page);
  await act();
  await page.waitForFunction((n) => Number(document.querySelector('#editor').dataset.arranged) > n, before, { timeout: 20000 });
}
/** Takes the drape to rest far enough to be looked at. */
async function drape(page, seconds) {
  await page.click('#garment-drape');
  await page.waitForFunction(() => document.querySelector('#editor').dataset.draped, null, { timeout: 60000 });
  const wrong = await page.evaluate(() => [document.querySelector('#editor').dataset.draped, document.querySelector('#message p').textContent]);
  expect(wrong[0] === 'yes', `not draped: ${wrong[1]}`);
  await page.waitForFunction((t) => new RegExp('t (\\d+\\.\\d+) s').exec(document.querySelector('#stats').textContent)?.[1] > t, seconds, { timeout: 120000 });
}

export const editorChecks = [
  {
    name: 'a skirt of two panels is drawn, sewn and draped by clicks alone',
    size: { width: 1280, height: 800 },
    async run({ page, address, picture }) {
      await openEditor(page, address);
      await page.click('#ed-new');
      await page.click('#tool-draw');
      for (const [x, y] of [[0.1, 0], [0.66, 0], [0.57, 0.42], [0.19, 0.42], [0.1, 0]]) await click(page, x, y);
      let pattern = await store(page);
      expect(pattern.panels.length === 1 && pattern.panels[0].edges.length === 4, `${pattern.panels.length} panels after drawing one`);
      await settle(page, () => page.selectOption('#panel-spot', 'waist front'));
      await settle(page, () => page.click('#panel-copy'));
      await settle(page, () => page.selectOption('#panel-spot', 'waist back'));
      await page.click('#ed-all');
      await page.click('#tool-seam');
      const side = async (panel, edge) => {
        const at = await page.evaluate(([p, e]) => {
          const panelOf = window.toile.editor().store.pattern.panels[p];
          const corner = (k) => (k === 0 ? panelOf.start : panelOf.edges[k - 1].pieces.at(-1).to);
          const [a, b] = [corner(e), corner(e + 1)];
          return [panelOf.sheet[0] + (a[0] + b[0]) / 2, panelOf.sheet[1] + (a[1] + b[1]) / 2];
        }, [panel, edge]);
        await click(page, ...at);
      };
      for (const [a, b] of [[1, 3], [3, 1]]) (await side(0, a), await side(1, b));
      pattern = await store(page);
      expect(pattern.seams.length === 2, `${pattern.seams.length} seams`);
      await picture('editor-skirt');
      await drape(page, 1.2);
      const d = await page.evaluate(() => {
        const { view } = window.toile;
        const b = view.bounds(false);
        return { low: b.min.y, high: b.max.y, left: b.min.x, right: b.max.x, front: b.max.z, back: b.min.z };
      });
      const n = await colours(page, await picture('editor-draped'));
      expect(n > 800, `only ${n} colours`);
      // it hangs about the hips, all around the body, and has not fallen
      expect(d.high > 0.75 && d.low > 0.3 && d.low < 0.75, `from ${d.low} to ${d.high} m`);
      expect(d.left < -0.1 && d.right > 0.1 && d.front > 0.08 && d.back < -0.02, JSON.stringify(d));
      return `from ${d.low.toFixed(2)} to ${d.high.toFixed(2)} m, ${(d.right - d.left).toFixed(2)} m wide`;
    },
  },
  {
    name: 'the editor undoes, keeps and saves',
    size: { width: 1280, height: 800 },
    async run({ page, address }) {
      await openEditor(page, address);
      await settle(page, () => page.click('#ed-skirt'));
      const before = JSON.stringify(await store(page));
      const editor = () => page.locator('.ed-sheet svg');
      // a curve, a dart, an inner line, a mirrored copy
      await page.click('#tool-select');
      const at = await place(page, 0.31, 0);
      await page.mouse.click(...at);
      await page.selectOption('#edge-shape', 'curve');
      await page.click('#tool-dart');
      const mouth = await place(page, 0.31, 0.5);
      await page.mouse.move(...mouth);
      await page.mouse.down();
      await page.mouse.move(mouth[0], mouth[1] + 60, { steps: 4 });
      await page.mouse.up();
      await page.click('#tool-line');
      await click(page, 0.22, 0.2);
      await click(page, 0.4, 0.2);
      await page.keyboard.press('Enter');
      await page.click('#panel-mirror');
      let p = (await store(page)).panels[0];
      expect(p.edges.some((e) => e.pieces[0].control?.length === 2), 'no curve');
      expect(p.darts.length === 1 && p.lines.length === 1, `${p.darts.length} darts, ${p.lines.length} lines`);
      const after = JSON.stringify(await store(page));
      for (let i = 0; i < 12 && JSON.stringify(await store(page)) !== before; i++) await page.click('#ed-undo');
      expect(JSON.stringify(await store(page)) === before, 'undo does not lead back');
      while (await page.locator('#ed-redo').isEnabled()) await page.click('#ed-redo');
      expect(JSON.stringify(await store(page)) === after, 'redo does not lead forth');
      await editor().focus();
      await page.reload();
      await page.waitForFunction(() => document.body.dataset.shown, null, { timeout: 60000 });
      await page.click('#tab-editor');
      await page.waitForFunction(() => document.querySelector('#editor').dataset.arranged);
      expect(JSON.stringify(await store(page)) === after, 'a reload loses the pattern');
      const saved = {};
      for (const format of ['json', 'svg', 'dxf', 'garmentcode']) {
        const [download] = await Promise.all([page.waitForEvent('download', { timeout: 20000 }), page.selectOption('#ed-save', format)]);
        saved[format] = readFileSync(await download.path(), 'utf8');
      }
      expect(JSON.parse(saved.json).format === 'toile-pattern-1' && saved.svg.includes('data-placement') && saved.dxf.includes('POLYLINE'), 'a saved file is not what it should be');
      // GarmentCode knows no inner lines, which is said; darts are edges there
      await page.waitForFunction(() => /without .*inner line/.test(document.querySelector('#message p').textContent));
      const code = JSON.parse(saved.garmentcode).pattern;
      expect(Object.keys(code.panels).length === 2 && code.panels.front.edges.length > 4 && code.stitches.length >= 3, 'GarmentCode: panels, dart or seams are missing');
      // what was saved as a drawing opens as what it was
      await page.click('#ed-new');
      await page.setInputFiles('#file', { name: 'skirt.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(saved.svg) });
      await page.waitForFunction(() => window.toile.editor().store.pattern.panels.length === 2);
      p = (await store(page)).panels[0];
      expect(p.darts.length === 1 && p.lines.length === 1 && p.placement.bend > 0, 'the drawing lost something');
      return 'curve, dart, line, mirror, undo, redo, reload, four formats';
    },
  },
  {
    name: 'a seam is sewn by keys alone',
    size: { width: 1280, height: 800 },
    async run({ page, address }) {
      await openEditor(page, address);
      await settle(page, () => page.click('#ed-skirt'));
      await page.locator('.ed-sheet svg').focus();
      const keys = async (...list) => {
        for (const key of list) await page.keyboard.press(key);
      };
      const chosen = () => page.evaluate(() => window.toile.editor().sheet.selection);
      await keys('n', 'e', 'e'); // edge 1 of the front
      let s = await chosen();
      expect(s.kind === 'edge' && s.panel === 'front' && s.edge === 1, JSON.stringify(s));
      await keys('c', 'c', 'ArrowRight');
      const corner = await page.evaluate(() => window.toile.editor().store.pattern.panels[0].edges[0].pieces[0].to[0]);
      await keys('ArrowLeft');
      const back = await page.evaluate(() => window.toile.editor().store.pattern.panels[0].edges[0].pieces[0].to[0]);
      expect(Math.abs(corner - back - 0.01) < 1e-9, `the corner went ${corner - back} m`);
      await page.evaluate(() => window.toile.editor().store.change((p) => p.seams.pop()));
      await keys('s', 'e', 'e', 'e', 'e', 'Enter', 'n', 'e', 'e', 'Enter'); // edge 3 of the front, edge 1 of the back
      const seams = (await store(page)).seams;
      expect(seams.length === 2 && seams[1].sides[0].edge === 3 && seams[1].sides[1].panel === 'back' && seams[1].sides[1].edge === 1, JSON.stringify(seams));
      return 'edges, corners and a seam';
    },
  },
  {
    name: 'GarmentCode opens, seams show, bad files are refused',
    size: { width: 1280, height: 800 },
    async run({ page, address, picture }) {
      await open(page, address);
      const file = join(root, 'tests/data/patterns/tshirt_mh_female_specification.json');
      await page.setInputFiles('#file', file);
      await page.waitForFunction(() => window.toile.editor()?.store.pattern.panels.length === 8, null, { timeout: 30000 });
      await page.waitForFunction(() => document.querySelector('#editor').dataset.shown === '8', null, { timeout: 30000 });
      await picture('editor-tshirt');
      const seams = (await store(page)).seams.length;
      expect(seams >= 8, `${seams} seams`);
      const spec = JSON.parse(readFileSync(file, 'utf8'));
      Object.values(spec.pattern.panels)[0].edges[0].endpoints = [0, 99];
      await page.setInputFiles('#file', { name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(spec)) });
      await page.waitForSelector('#message.bad:not([hidden])');
      const said = await page.textContent('#message p');
      expect(/broken\.json/.test(said), `said: ${said}`);
      expect((await store(page)).panels.length === 8, 'the pattern was lost');
      return `${seams} seams; broken file: ${said.slice(0, 90)}`;
    },
  },
  {
    name: 'the editor at phone width',
    size: { width: 390, height: 800 },
    touch: true,
    async run({ page, address, picture }) {
      await openEditor(page, address);
      await settle(page, () => page.click('#ed-skirt'));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide <= 390, `the page is ${wide} wide`);
      const at = await place(page, 0.31, 0.25);
      await page.touchscreen.tap(...at);
      expect(await page.evaluate(() => window.toile.editor().sheet.selection.kind === 'panel'), 'a tap does not choose');
      const n = await colours(page, await picture('editor-phone'));
      expect(n > 300, `only ${n} colours`);
      return `${n} colours`;
    },
  },
];
