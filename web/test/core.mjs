// web/test/core.mjs: the simulator as a module for node: the repository's fabrics and scenes on its file system.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

export async function openCore(build = join(root, 'build/wasm')) {
  const create = (await import(pathToFileURL(join(build, 'toile-web.mjs')).href)).default;
  const core = await create({ wasmBinary: readFileSync(join(build, 'toile-web.wasm')) });
  const copy = (from, to) => {
    if (statSync(from).isDirectory()) {
      core.FS.mkdir(to);
      for (const name of readdirSync(from)) copy(join(from, name), `${to}/${name}`);
    } else core.FS.writeFile(to, readFileSync(from));
  };
  core.FS.mkdir('/data');
  copy(join(root, 'materials'), '/data/materials');
  core.load = (folder, sets = []) => {
    const to = `/scene${Math.random().toString(36).slice(2)}`;
    copy(join(root, folder.replace(/\/[^/]*\.json$/, '')), to);
    const file = folder.endsWith('.json') ? folder.replace(/.*\//, '') : 'scene.json';
    const status = core.ccall('tlw_load_scene', 'number', ['string', 'string'], [`${to}/${file}`, sets.join('\n')]);
    if (status) throw new Error(core.ccall('tlw_message', 'string', [], []));
  };
  core.step = (count) => {
    for (let i = 0; i < count; i++)
      if (core._tlw_step()) throw new Error(core.ccall('tlw_message', 'string', [], []));
  };
  core.hash = () => core.ccall('tlw_hash', 'string', [], []);
  core.report = () => Array.from(core.HEAPF64.subarray(core._tlw_report() / 8, core._tlw_report() / 8 + 16));
  return core;
}
