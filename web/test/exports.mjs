// web/test/exports.mjs: what `toile export` writes, as readers of others see it: USD by three.js, GLB by three.js and by Khronos'
// glTF validator. Adaptive runs of three scenes; every position of every frame within 1e-6 m of what is in frames/ (GLB: of the same resampled mesh as OBJ).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import validator from 'gltf-validator';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { USDLoader } from 'three/addons/loaders/USDLoader.js';
import { USDAParser } from 'three/addons/loaders/usd/USDAParser.js';
import { root } from './core.mjs';

const program = process.env.TOILE ?? join(root, 'build/release/toile');
const SCENES = [
  ['sphere', 'sphere', 8, ['remeshing.size_min=0.04']],
  ['curtain', 'curtain', 6, []],
  ['flag', 'flag', 6, ['remeshing.size_min=0.03']],
];
const NEAR = 1e-6;

const folder = mkdtempSync(join(tmpdir(), 'toile-exports-'));
let failed = 0;
const check = (good, what) => {
  console.log(`${good ? 'ok   ' : 'FAIL '} ${what}`);
  if (!good) failed++;
};
const toile = (...words) => execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });

/** Nodes and faces (of nodes) of an OBJ, and the node under each vertex of the material. */
function readObj(path) {
  const points = [], faces = [], node = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const words = line.trim().split(/\s+/);
    if (words[0] === 'v') points.push(words.slice(1, 4).map(Number));
    if (words[0] !== 'f') continue;
    for (const [v, vt] of words.slice(1, 4).map((w) => w.split('/').map(Number))) {
      faces.push(v - 1);
      node[vt - 1] = v - 1;
    }
  }
  return { points, faces, node };
}

/** Largest distance of coordinates, Infinity if there are more or fewer of them. */
function apart(a, b) {
  if (a.length !== b.length) return Infinity;
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i] - b[i]));
  return worst;
}

/** The value at a time: the sample there, or the one before it. */
function sampleAt(spec, time) {
  const { times, values } = spec.fields.timeSamples ?? { times: [0], values: [spec.fields.default] };
  let k = 0;
  while (k + 1 < times.length && times[k + 1] <= time) k++;
  return values[k];
}

async function checkUsd(scene, cloth, frames, path) {
  const text = readFileSync(path, 'utf8');
  const { specsByPath } = new USDAParser().parseData(text);
  const mesh = Object.keys(specsByPath).find((p) => specsByPath[p].fields.typeName === 'Mesh' && p.endsWith(`/${cloth}`));
  let worst = 0, sameFaces = true, sizes = new Set();
  frames.forEach(({ points, faces }, k) => {
    worst = Math.max(worst, apart(Array.from(sampleAt(specsByPath[`${mesh}.points`], k)), points.flat()));
    sameFaces &&= apart(Array.from(sampleAt(specsByPath[`${mesh}.faceVertexIndices`], k)), faces) === 0;
    sizes.add(faces.length);
  });
  check(worst < NEAR && sameFaces && sizes.size > 1, `${scene}.usda: ${frames.length} frames of ${sizes.size} meshes, ${worst.toExponential(1)} m off`);

  const loaded = new USDLoader().parse(text);
  let position = null;
  loaded.traverse((o) => { if (o.isMesh && (o.name === cloth || o.parent?.name === cloth)) position = o.geometry.attributes.position; });
  const seen = position && distances(frames[0], position);
  check(position !== null && seen < NEAR, `${scene}.usda: what three.js shows, ${seen?.toExponential(1)} m off`);
}

/** Corners in any order and as often as a reader likes: farthest of them from the nearest node, and of the nodes from them. */
function distances({ points }, position) {
  const key = (p) => p.map((x) => Math.round(x * 1e5)).join(' ');
  const around = (p) => {
    const out = [];
    for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) for (const dz of [-1, 0, 1]) out.push(key([p[0] + dx * 1e-5, p[1] + dy * 1e-5, p[2] + dz * 1e-5]));
    return out;
  };
  const farthest = (from, to) => {
    const bins = new Map();
    for (const p of to) bins.set(key(p), [...(bins.get(key(p)) ?? []), p]);
    let worst = 0;
    for (const p of from) {
      let best = Infinity;
      for (const k of around(p)) for (const q of bins.get(k) ?? []) best = Math.min(best, Math.max(...p.map((x, c) => Math.abs(x - q[c]))));
      worst = Math.max(worst, best);
    }
    return worst;
  };
  const corners = [];
  for (let i = 0; i < position.count; i++) corners.push([position.getX(i), position.getY(i), position.getZ(i)]);
  return Math.max(farthest(points, corners), farthest(corners, points));
}

async function checkGlb(scene, frames, path) {
  const even = frames[0];
  const bytes = readFileSync(path);
  const report = await validator.validateBytes(new Uint8Array(bytes));
  const { numErrors, numWarnings, messages } = report.issues;
  check(numErrors === 0 && numWarnings === 0, `${scene}.glb: glTF validator: ${numErrors} errors, ${numWarnings} warnings` +
    messages.filter((m) => m.severity < 2).slice(0, 3).map((m) => `\n       ${m.code} ${m.pointer}: ${m.message}`).join(''));

  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '');
  let mesh = null;
  gltf.scene.traverse((o) => { if (o.isMesh) mesh = o; });
  const { position } = mesh.geometry.attributes, targets = mesh.geometry.morphAttributes.position ?? [];
  const clip = gltf.animations[0], track = clip.tracks.find((t) => t.name.endsWith('morphTargetInfluences'));
  let worst = 0;
  frames.forEach((frame, k) => {  // at the time of every frame the clip shows that frame alone
    const weights = track.values.slice(k * targets.length, (k + 1) * targets.length);
    const on = targets.map((t, j) => [t, weights[j]]).filter(([, w]) => w);
    if (position.count !== even.node.length) worst = Infinity;
    for (let i = 0; i < position.count; i++)
      for (let c = 0; c < 3; c++) {
        const x = on.reduce((sum, [t, w]) => sum + w * t.getComponent(i, c), position.getComponent(i, c));
        worst = Math.max(worst, Math.abs(x - frame.points[even.node[i]][c]));
      }
  });
  check(worst < NEAR && track.times.length === frames.length, `${scene}.glb: ${frames.length} frames as three.js plays them, ${worst.toExponential(1)} m off`);
}

for (const [scene, cloth, count, sets] of SCENES) {
  const run = join(folder, scene);
  toile('run', join(root, 'scenes', scene, 'scene.json'), '--out', run, '--frames', String(count), '--threads', '2', '--quiet', ...sets.flatMap((s) => ['--set', s]));
  const name = readdirSync(join(run, 'frames')).filter((f) => f.startsWith('000000_')).map((f) => f.slice(7, -4))[0];
  const frames = Array.from({ length: count + 1 }, (_, k) => readObj(join(run, 'frames', `${String(k).padStart(6, '0')}_${name}.obj`)));
  toile('export', run, '-o', `${run}.usda`, '--quiet');
  await checkUsd(scene, name, frames, `${run}.usda`);
  toile('export', run, '-o', `${run}.glb`, '--resample', '--cloth', name, '--quiet');
  toile('export', run, '-o', `${run}/resampled.obj`, '--resample', '--cloth', name, '--quiet');
  const even = Array.from({ length: count + 1 }, (_, k) => readObj(join(run, `resampled.${String(k).padStart(6, '0')}.obj`)));
  await checkGlb(scene, even, `${run}.glb`);
}
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
