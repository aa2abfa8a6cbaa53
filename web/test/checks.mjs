// web/test/checks.mjs: what has to hold of the page.
const expect = (truth, sentence) => {
  if (!truth) throw new Error(sentence);
};
const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));

/** Opens the page and waits for the first cloth on screen. */
async function open(page, address, hash = '') {
  await page.goto(address + hash);
  await page.waitForFunction(() => document.body.dataset.shown, null, { timeout: 60000 });
}
async function pause(page) {
  if ((await page.textContent('#play')) === 'Pause') await page.keyboard.press(' ');
}
/** Takes steps one after another, `count` in all. */
async function steps(page, count) {
  await pause(page);
  const before = Number((await data(page)).steps);
  await page.waitForTimeout(100);
  const start = Number((await data(page)).steps) || before;
  for (let i = 0; i < count; i++) await page.keyboard.press('s'); // not a click: the pointer may be holding something
  await page.waitForFunction((n) => Number(document.body.dataset.steps) >= n, start + count, { timeout: 120000 });
}
/** Mean height of all cloth, and its faces. */
const shape = (page) => page.evaluate(() => {
  const box = window.toile.view.bounds(false);
  return { low: box.min.y, high: box.max.y, left: box.min.x, right: box.max.x };
});
/** How many different colours a picture has, counted by the page itself. */
const colours = (page, png) => page.evaluate(async (base64) => {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const c = canvas.getContext('2d');
  c.drawImage(image, 0, 0);
  const seen = new Set(new Uint32Array(c.getImageData(0, 0, image.width, image.height).data.buffer));
  return seen.size;
}, png.toString('base64'));

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
];
