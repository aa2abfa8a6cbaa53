// web/test/checks.mjs: what has to hold of the page.
import { join } from 'node:path';
import { root } from './core.mjs';
import { editorChecks } from './editor.mjs';
import { change, colours, data, drop, expect, load, open, pause, shape, steps } from './ways.mjs';

const wide = { width: 900, height: 520 }; // with the settings beside the picture

export const checks = [
  {
    name: 'loads and shows cloth',
    async run({ page, address, picture }) {
      const from = Date.now();
      await open(page, address);
      const ms = Date.now() - from;
      const isolated = await page.evaluate(() => crossOriginIsolated);
      expect(isolated, 'not cross-origin isolated');
      const n = await colours(page, await picture('first'));
      expect(n > 500, `only ${n} colours on screen`);
      return `first cloth after ${ms} ms, ${n} colours`;
    },
  },
  {
    name: 'simulates 100 steps and faces change',
    async run({ page, address, picture }) {
      await open(page, address);
      const faces = Number((await data(page)).faces);
      await steps(page, 100);
      const d = await data(page);
      expect(Number(d.faces) > 2 * faces, `faces ${faces} to ${d.faces}`);
      const n = await colours(page, await picture('draped'));
      expect(n > 1000, `only ${n} colours`);
      return `${faces} to ${d.faces} faces, ${d.steps} steps, ${d.ms} ms the last`;
    },
  },
  {
    name: 'threads change nothing',
    async run({ page, address }) {
      const hashes = [];
      for (const threads of [1, 3]) {
        await page.goto('about:blank');
        await open(page, address, `?threads=${threads}`);
        expect((await data(page)).threads === String(threads), `${(await data(page)).threads} threads, not ${threads}`);
        await pause(page);
        await load(page, () => page.click('#reset', { force: true }));
        await steps(page, 50);
        const d = await data(page);
        expect(d.steps === '50', `${d.steps} steps`);
        hashes.push(`${d.hash} ${d.faces}`);
      }
      expect(hashes[0] === hashes[1], `one thread ${hashes[0]}, three ${hashes[1]}`);
      return `50 steps, ${hashes[0]}`;
    },
  },
  {
    name: 'dragging moves cloth',
    async run({ page, address, picture }) {
      await open(page, address);
      await steps(page, 30);
      const at = await page.evaluate(() => {
        const { view } = window.toile;
        const box = view.bounds(false);
        const p = box.min.clone();
        p.set((box.min.x + box.max.x) / 2, box.max.y, (box.min.z + box.max.z) / 2);
        return view.project(p);
      });
      const before = await shape(page);
      await page.mouse.move(at.x, at.y + 6);
      await page.mouse.down();
      await page.mouse.move(at.x, at.y - 40, { steps: 4 });
      await page.mouse.move(at.x, at.y - 80, { steps: 4 });
      await page.waitForFunction(() => document.body.dataset.held);
      expect((await data(page)).held === '1', `held ${(await data(page)).held}, not cloth`);
      await steps(page, 25);
      await picture('dragged');
      await page.mouse.up();
      const after = await shape(page);
      expect(after.high > before.high + 0.1, `top from ${before.high} to ${after.high}`);
      return `top of the cloth from ${before.high.toFixed(3)} to ${after.high.toFixed(3)} m`;
    },
  },
  {
    name: 'the fabric menu changes the drape',
    size: wide,
    async run({ page, address, picture }) {
      await open(page, address);
      await pause(page);
      const drape = async (fabric) => {
        await change(page, () => page.selectOption('#fabric', fabric));
        await load(page, () => page.click('#reset', { force: true }));
        await steps(page, 45);
        return data(page);
      };
      const denim = await drape('denim');
      await picture('denim');
      const silk = await drape('silk');
      await picture('silk');
      expect(silk.hash !== denim.hash, 'silk and denim give the same state');
      expect(Number(silk.faces) !== Number(denim.faces), `both have ${silk.faces} faces`);
      // while it runs: it goes on from where it is
      const before = await shape(page);
      await change(page, () => page.selectOption('#fabric', 'denim'));
      const after = await shape(page);
      expect(JSON.stringify(before) === JSON.stringify(after), 'another fabric has moved the cloth');
      await steps(page, 5);
      expect((await data(page)).steps === '50', `step ${(await data(page)).steps}, not 50`);
      return `silk ${silk.faces}, denim ${denim.faces} faces`;
    },
  },
  {
    name: 'remeshing bounds, wind, colours and keys',
    size: wide,
    async run({ page, address, picture }) {
      await open(page, address);
      await pause(page);
      const set = (id, value) => page.$eval(`#${id}`, (e, v) => ((e.value = v), e.dispatchEvent(new Event('input'))), value);
      await change(page, () => set('maxFaces', '400'));
      await steps(page, 60);
      let d = await data(page);
      expect(Number(d.faces) <= 480, `${d.faces} faces with at most 400`);
      await change(page, () => page.selectOption('#remeshing', 'none'));
      const faces = (await data(page)).faces;
      await steps(page, 20);
      expect((await data(page)).faces === faces, 'the mesh changes without remeshing');
      const still = await shape(page);
      await set('wind', '10');
      await steps(page, 20);
      const blown = await shape(page);
      expect(Math.abs(blown.low - still.low) + Math.abs(blown.high - still.high) + Math.abs(blown.left - still.left) > 0.01, 'wind does nothing');
      await page.locator('#canvas').focus();
      await page.keyboard.press('w');
      expect(await page.isChecked('#wire'), 'w');
      await page.keyboard.press('c');
      d = await page.evaluate(() => [document.querySelector('#colour').value, document.querySelector('#legend').hidden]);
      expect(d[0] === 'strain' && !d[1], `colour ${d}`);
      await picture('strain-wire');
      const from = await page.evaluate(() => window.toile.view.camera.position.toArray());
      await page.keyboard.press('ArrowLeft');
      await page.waitForFunction((f) => Math.hypot(...f.map((x, i) => x - window.toile.view.camera.position.toArray()[i])) > 0.05, from);
      return `${faces} faces without remeshing`;
    },
  },
  {
    name: 'files are opened, bad ones refused',
    size: wide,
    async run({ page, address, picture }) {
      await open(page, address);
      await pause(page);
      // a scene, by dropping it
      const scene = { name: 'dropped', cloths: [{ name: 'patch', mesh: { rectangle: { size: [0.5, 0.5], edge: 0.1 } }, material: 'silk' }], handles: [{ cloth: 'patch', sides: 'top' }] };
      await load(page, () => drop(page, 'mine.json', JSON.stringify(scene)));
      await steps(page, 3);
      // an OBJ of cloth and a body
      const obj = 'v 0 1 0\nv 1 1 0\nv 1 1 1\nv 0 1 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n';
      await load(page, () => drop(page, 'cloth.obj', obj));
      expect((await data(page)).faces >= 2, 'no cloth from the OBJ');
      await load(page, () => page.setInputFiles('#file', join(root, 'tests/data/bodies/RiggedFigure.glb')));
      await steps(page, 3);
      await picture('dropped-character');
      const hash = (await data(page)).hash;
      for (const [name, text, says] of [
        ['bad.json', '{"cloths": [{"mesh": {"rectangle": {"size": [1, -1], "edge": 0.1}}}]}', /bad\.json:1.*size/],
        ['bad.obj', 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n', /bad\.obj:4/],
        ['bad.glb', 'glTF nonsense', /bad\.glb/],
        ['notes.txt', 'hello', /notes\.txt/],
        ['half.json', '{"cloths": [', /half\.json/],
      ]) {
        await page.evaluate(() => (document.querySelector('#message').hidden = true));
        await drop(page, name, text);
        await page.waitForSelector('#message.bad:not([hidden])', { timeout: 20000 });
        const said = await page.textContent('#message p');
        expect(says.test(said), `${name}: ${said}`);
      }
      expect((await data(page)).hash === hash, 'a bad file changed the simulation');
      await steps(page, 2); // nothing hangs
      return 'scene, mesh, character; five bad files named';
    },
  },
  {
    name: 'a recording is played',
    async run({ page, address, picture }) {
      await open(page, address);
      const files = [];
      for (let i = 0; i < 4; i++) {
        const y = 1 - 0.1 * i;
        files.push([`run/frames/${String(i).padStart(6, '0')}_cloth.obj`, `v 0 ${y} 0\nv 1 ${y} 0\nv 1 ${y} 1\nv 0 ${y} 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 4/4 3/3\nf 1/1 3/3 2/2\n`]);
      }
      await page.evaluate(async (list) => window.toile.openFiles(list.map(([path, text]) => ({ path, file: new File([text], path.replace(/.*\//, '')) }))), files);
      await page.waitForFunction(() => !document.querySelector('#player').hidden);
      const first = await shape(page);
      await page.$eval('#scrub', (e) => ((e.value = '3'), e.dispatchEvent(new Event('input'))));
      const last = await shape(page);
      expect(Math.abs(first.high - 1) < 1e-6 && Math.abs(last.high - 0.7) < 1e-6, `${first.high} to ${last.high}`);
      await picture('recording');
      return '4 frames';
    },
  },
  {
    name: 'a share link restores the settings',
    size: wide,
    async run({ page, address }) {
      await open(page, address);
      await load(page, () => page.click('#gallery button[data-name=curtain]'));
      await change(page, () => page.selectOption('#fabric', 'wool'));
      await page.selectOption('#colour', 'speed');
      await page.check('#wire');
      await page.click('#share');
      await page.waitForFunction(() => location.hash.length > 5);
      const link = await page.evaluate(() => location.hash);
      const before = await page.evaluate(() => ({ ...window.toile.settings(), camera: 0 }));
      await page.goto('about:blank'); // not beside the first page, which would draw as fast as it can
      await open(page, address, link);
      const after = await page.evaluate(() => ({ ...window.toile.settings(), camera: 0 }));
      expect(JSON.stringify(before) === JSON.stringify(after), `${JSON.stringify(before)} and ${JSON.stringify(after)}`);
      expect(await page.inputValue('#fabric') === 'wool' && await page.isChecked('#wire'), 'the panel does not show it');
      return `${link.length} characters`;
    },
  },
  {
    name: 'the real-time engine is a choice',
    size: wide,
    async run({ page, address, picture }) {
      await open(page, address);
      await pause(page);
      const engines = await page.$$eval('#engine option', (list) => list.map((o) => o.value));
      expect(engines.includes('springs'), `engines: ${engines}`);
      await load(page, () => page.selectOption('#engine', 'springs'));
      const from = Number((await data(page)).faces);
      await steps(page, 60);
      const d = await data(page);
      const box = await shape(page);
      expect(Number(d.faces) > from, `faces ${from} to ${d.faces}`);
      expect(box.high > 0.6 && box.low > -0.01 && box.low < 0.6, `from ${box.low} to ${box.high} m: not on the ball`);
      await picture('springs');
      return `${from} to ${d.faces} faces, ${d.ms} ms the last step`;
    },
  },
  {
    name: 'every exhibit of the gallery runs',
    size: wide,
    async run({ page, address, picture }) {
      await open(page, address);
      const names = await page.$$eval('#gallery button', (list) => list.map((b) => b.dataset.name));
      expect(names.length === 6, `${names.length} exhibits`);
      const seen = [];
      for (const name of names) {
        await load(page, () => page.click(`#gallery button[data-name=${name}]`));
        await steps(page, 2);
        const n = await colours(page, await picture(`gallery-${name}`));
        expect(n > 300, `${name}: only ${n} colours`);
        seen.push(`${name} ${(await data(page)).faces}`);
      }
      return seen.join(', ');
    },
  },
  {
    name: 'phone width, by touch, in the dark',
    size: { width: 390, height: 780 },
    touch: true,
    dark: true,
    async run({ page, address, picture }) {
      await open(page, address);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide <= 390, `the page is ${wide} wide`);
      expect(await page.evaluate(() => document.documentElement.dataset.theme) === 'dark', 'not dark');
      await page.tap('#menu');
      expect(await page.isVisible('#fabric'), 'the settings do not open');
      await picture('phone-settings');
      await page.tap('#menu');
      expect(!(await page.isVisible('#fabric')), 'the settings do not close');
      await pause(page);
      await page.tap('#step');
      const n = await colours(page, await picture('phone'));
      expect(n > 300, `only ${n} colours`);
      return `${n} colours`;
    },
  },
  ...editorChecks,
];
