// What was dropped, and the scene that shows it.

import type { File_, Shape } from './messages';

type Found = { kind: 'scene'; path: string; sets: string[]; extra: File_[] } | { kind: 'mesh'; mesh: string; body: boolean; path: string; sets: string[]; extra: File_[] } | { kind: 'pattern'; path: string } | { error: string };

const bytes = (text: string) => new TextEncoder().encode(text);

// JSON with comments, as far as telling scenes from patterns goes; the reader itself tells errors.
function keysOf(file: File_): string {
  return new TextDecoder().decode(file.data.subarray(0, 1 << 20));
}

/** The file that counts among those dropped, and how to load it. */
export function recognise(files: File_[]): Found {
  const name = (f: File_) => f.path.replace(/.*\//, '').toLowerCase();
  const ending = (f: File_) => name(f).replace(/.*\./, '');
  const json = files.filter((f) => ending(f) === 'json');
  const pattern = json.find((f) => /"toile-pattern-1"|"panel_order"|"stitches"|"pattern"\s*:\s*\{/.test(keysOf(f)) && !/"cloths"/.test(keysOf(f)))
    ?? files.find((f) => ['svg', 'dxf'].includes(ending(f)));
  if (pattern) return { kind: 'pattern', path: pattern.path };
  const scene = json.find((f) => /"cloths"/.test(keysOf(f))) ?? json.find((f) => name(f) === 'scene.json') ?? json[0];
  if (scene) return { kind: 'scene', path: scene.path, sets: [], extra: [] };
  const mesh = files.find((f) => ['obj', 'glb', 'gltf', 'ply', 'stl'].includes(ending(f)));
  if (!mesh)
    return { error: `${files.map(name).join(', ')}: not a kind of file that can be opened (scene .json, pattern .json .svg .dxf, mesh .obj .ply .stl, character .glb .gltf, folder of frames)` };
  // An OBJ with vt is a cloth and falls on the ball; anything else is a body, and a sheet falls on it (overBody).
  const cloth = ending(mesh) === 'obj' && /^vt /m.test(keysOf(mesh));
  const path = mesh.path.replace(/[^/]*$/, 'shown-by-page.json');
  const file = mesh.path.replace(/.*\//, '');
  const text = cloth
    ? { name: 'mesh', cloths: [{ name: 'cloth', mesh: file, material: 'cotton' }], collisions: { on_intersection: 'heal' },
        obstacles: [{ name: 'floor', plane: { point: [0, 0, 0], normal: [0, 1, 0] } }] }
    : { name: 'body',
        cloths: [{ name: 'sheet', mesh: { rectangle: { size: [1.2, 1.2], edge: 0.1 } }, material: 'cotton',
                   transform: { rotate: [-90, 1, 0, 0], translate: [-0.6, 10, 0.6] } }],
        obstacles: [{ name: 'body', character: { file } }] };
  return { kind: 'mesh', mesh: mesh.path, body: !cloth, path, sets: [], extra: [{ path, data: bytes(JSON.stringify(text, null, 1)) }] };
}

/** The scene of a body with the sheet just above it, wide enough to hang over its sides. */
export function overBody(found: { path: string; extra: File_[] }, shapes: Shape[]): File_ {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const s of shapes)
    for (let i = 0; i < s.corners.length; i += 9)
      for (let k = 0; k < 3; k++) (low[k] = Math.min(low[k], s.corners[i + k])), (high[k] = Math.max(high[k], s.corners[i + k]));
  const size = Math.min(9, Math.max(0.4, 1.3 * Math.max(high[0] - low[0], high[2] - low[2])));
  const scene = JSON.parse(new TextDecoder().decode(found.extra[0].data));
  scene.cloths[0].mesh.rectangle = { size: [size, size], edge: size / 12 };
  scene.cloths[0].transform.translate = [(low[0] + high[0] - size) / 2, high[1] + 0.03 * size, (low[2] + high[2] + size) / 2];
  return { path: found.path, data: bytes(JSON.stringify(scene)) };
}
