// web/test/hash.mjs [STEPS]: the program and the page compute the same: state hashes of scenes with remeshing and contact, native
// (TOILE or build/release/toile) and WebAssembly in node. The linear solver is conjugate gradients: the page has no METIS to order a factor.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCore, root } from './core.mjs';

const program = process.env.TOILE ?? join(root, 'build/release/toile');
const scenes = process.env.SCENES ? process.env.SCENES.split(' ').map((f) => [f, 20, []]) : [
  ['scenes/sphere', 40, ['remeshing.size_min=0.04']],
  ['scenes/curtain', 30, []],
  ['scenes/stack', 12, []],
];
const core = await openCore();
const folder = mkdtempSync(join(tmpdir(), 'toile-hash-'));
let differ = 0;
for (const [scene, steps, more] of scenes) {
  const sets = [...more, 'solver.linear=pcg', 'steps_per_frame=1'];
  const out = execFileSync(program, ['run', join(root, scene, 'scene.json'), '--out', join(folder, 'run'), '--frames', String(steps), '--threads', '2', '--json',
    ...sets.flatMap((s) => ['--set', s])], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const native = JSON.parse(out).state_hash;
  rmSync(join(folder, 'run'), { recursive: true });
  core.load(scene, sets);
  core.step(steps);
  const here = core.hash();
  const [, , , faces, , , , , , , , , contacts, splits] = core.report();
  console.log(`${native === here ? 'ok   ' : 'FAIL '} ${scene}: ${steps} steps, ${faces} faces, ${contacts} contacts: native ${native}, WebAssembly ${here}`);
  if (native !== here) differ++;
}
rmSync(folder, { recursive: true });
process.exit(differ ? 1 : 0);
