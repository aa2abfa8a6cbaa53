// web/bench/speed.mjs [SECONDS]: how fast the page's simulator is: processor time of a step and of making the picture's arrays, in node, with the
// page's own settings. Frames a second are what one step a frame leaves room for; drawing is not counted.
import { openCore } from '../test/core.mjs';

const seconds = Number(process.argv[2] ?? 2);
const core = await openCore();
const rows = [['sphere, implicit, up to 2,000', 'scenes/sphere', ['remeshing.size_min=0.03', 'remeshing.size_max=0.2', 'remeshing.max_faces=2000']],
  ['curtain, implicit, up to 2,000', 'scenes/curtain', ['remeshing.size_min=0.03', 'remeshing.size_max=0.2', 'remeshing.max_faces=2000']]];
core.FS.writeFile('/probe.json', '{"cloths": [{"mesh": {"rectangle": {"size": [1, 1], "edge": 0.5}}}]}');
if (core.ccall('tlw_check_scene', 'number', ['string', 'string'], ['/probe.json', 'dynamics.kind=springs\nremeshing.kind=none']) === 0)
  rows.push(['sphere, springs, up to 5,000', 'scenes/sphere', ['dynamics.kind=springs', 'remeshing.kind=edge-trees', 'remeshing.levels=4', 'remeshing.max_faces=5000']]);
const now = () => process.cpuUsage().user / 1000;
console.log('| scene | triangles at the end | step, mean [ms] | step, worst of a tenth [ms] | arrays to draw [ms] | frames/s |\n|---|---|---|---|---|---|');
for (const [name, scene, sets] of rows) {
  core.load(scene, [...sets, 'fps=30', 'steps_per_frame=2', ...(name.includes('springs') ? [] : ['solver.newton_tolerance=0.06', 'solver.linear_tolerance=0.05'])]);
  const times = [];
  let draw = 0;
  for (let i = 0; i < 60 * seconds; i++) {
    const from = now();
    core.step(1);
    times.push(now() - from);
    const drawn = now();
    core._tlw_cloth(0, 1);
    draw += now() - drawn;
  }
  times.sort((a, b) => a - b);
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  const upload = draw / times.length;
  console.log(`| ${name} | ${core.report()[3]} | ${mean.toFixed(1)} | ${times[Math.floor(0.9 * times.length)].toFixed(1)} | ${upload.toFixed(2)} | ${(1000 / (mean + upload)).toFixed(0)} |`);
}
