// web/test/ways.mjs: what all checks of the page do.
export const expect = (truth, sentence) => {
  if (!truth) throw new Error(sentence);
};
export const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));

/** Opens the page and waits for the first cloth on screen. */
export async function open(page, address, hash = '') {
  await page.goto(address + hash);
  await page.waitForFunction(() => document.body.dataset.shown, null, { timeout: 60000 });
}
/** Stops; every frame of before has come when the worker says so. */
export async function pause(page) {
  if ((await page.textContent('#play')) === 'Pause') await page.$eval('#play', (b) => b.click());
  await page.waitForFunction(() => document.body.dataset.running === '0', null, { timeout: 60000 });
}
/** Takes `count` steps one after another. */
export async function steps(page, count) {
  await pause(page);
  const from = Number((await data(page)).steps);
  for (let i = 0; i < count; i++) await page.keyboard.press('s'); // not a click: the pointer may be holding something
  await page.waitForFunction((n) => Number(document.body.dataset.steps) >= n, from + count, { timeout: 180000 });
}
/** Does something that changes the cloth that is there, and waits until it has. */
export async function change(page, act) {
  const before = (await data(page)).changes;
  await act();
  await page.waitForFunction((b) => document.body.dataset.changes !== b, before, { timeout: 60000 });
}
/** The box of all cloth. */
export const shape = (page) => page.evaluate(() => {
  const box = window.toile.view.bounds(false);
  return { low: box.min.y, high: box.max.y, left: box.min.x, right: box.max.x };
});
/** How many different colours a picture has, counted by the page itself. */
export const colours = (page, png) => page.evaluate(async (base64) => {
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
/** Does something that loads a scene, and waits until its first frame is there. */
export async function load(page, act) {
  const before = (await data(page)).first;
  await act();
  await page.waitForFunction((b) => document.body.dataset.first !== b, before, { timeout: 60000 });
}
/** Drops a file on the page, as from a file manager. */
export const drop = (page, name, text) => page.evaluate(([n, t]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([t], n));
  window.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
}, [name, text]);
