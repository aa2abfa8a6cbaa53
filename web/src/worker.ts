// The simulator's thread: holds the WebAssembly module, steps in real time where it can, and sends frames to draw.
// The next frame is sent only when the page has drawn the last, so a slow display slows nothing down but itself.

import { colours, reportNames } from './messages';
import type { Colour, FromWorker, Report, Shape, ToWorker } from './messages';

type Core = {
  FS: {
    writeFile(path: string, data: Uint8Array): void;
    readFile(path: string): Uint8Array;
    mkdirTree(path: string): void;
    unlink(path: string): void;
  };
  HEAPF32: Float32Array;
  HEAPF64: Float64Array;
  buffer?: () => ArrayBufferLike; // of shared memory, which another thread may have made larger
  ccall(name: string, result: 'number' | 'string' | null, types: string[], args: unknown[]): unknown;
};

const post = (message: FromWorker, transfer: Transferable[] = []) => self.postMessage(message, { transfer });
let core: Core;
let playing = false;
let waiting = false; // for the page to draw the last frame
let colour: Colour = 'none';
let planes = new Set<string>();
let due = 0; // wall clock at which the next step is due [ms]
let timer = 0;
let first = true;
let loaded = false;
let sewing = 0; // key of what is being sewn

const call = (name: string, ...args: (number | string)[]) =>
  core.ccall(name, 'number', args.map((a) => (typeof a === 'number' ? 'number' : 'string')), args) as number;
const text = (name: string, ...args: (number | string)[]) =>
  core.ccall(name, 'string', args.map((a) => (typeof a === 'number' ? 'number' : 'string')), args) as string;

const doubles = (at: number, count: number) => (core.buffer ? new Float64Array(core.buffer(), at, count) : core.HEAPF64.subarray(at / 8, at / 8 + count));
const floats = (at: number, count: number) => (core.buffer ? new Float32Array(core.buffer(), at, count) : core.HEAPF32.subarray(at / 4, at / 4 + count));

function report(): Report {
  const numbers = doubles(call('tlw_report'), reportNames.length);
  return Object.fromEntries(reportNames.map((name, i) => [name, numbers[i]])) as Report;
}

function shape(name: string, faces: number): Shape {
  return { name, faces, corners: floats(call('tlw_corners'), 27 * Math.max(faces, 0)).slice() };
}

function send() {
  const cloths: Shape[] = [];
  for (let i = 0; i < call('tlw_cloth_count'); i++)
    cloths.push(shape(text('tlw_cloth_name', i), call('tlw_cloth', i, colours.indexOf(colour))));
  const around = bodies(first);
  const buffers = [...cloths, ...around].map((s) => s.corners.buffer as ArrayBuffer);
  post({ type: 'frame', report: report(), cloths, bodies: around, hash: text('tlw_hash'), first }, buffers);
  first = false;
  waiting = true;
}

function steps(count: number): boolean {
  for (let i = 0; i < count; i++) {
    const status = call('tlw_step');
    if (status !== 0) {
      playing = false;
      post({ type: 'stopped', message: text('tlw_message') });
      return false;
    }
  }
  return true;
}

// At most 25 ms of simulated time a frame: where steps take longer than they last, the cloth is shown in slow motion.
function advance() {
  clearTimeout(timer);
  if (!playing || !loaded) return;
  if (sewing) {
    if (!waiting) sew();
    timer = setTimeout(advance, waiting ? 2 : 0) as unknown as number;
    return;
  }
  const now = performance.now();
  const dt = 1000 * report().dt;
  if (waiting || now < due) {
    timer = setTimeout(advance, waiting ? 2 : Math.max(0, due - now)) as unknown as number;
    return;
  }
  const behind = Math.min(Math.floor((now - due) / dt) + 1, Math.max(1, Math.floor(25 / dt)));
  due = Math.max(due + behind * dt, now - dt);
  if (steps(behind)) send();
  timer = setTimeout(advance, 0) as unknown as number;
}

// A step of sewing; what is shown is drawn as any simulation.
function sew() {
  const status = call('tlw_sew_step');
  const [stage, part, gap, tie] = doubles(call('tlw_sewing'), 4);
  const wrong = status < 0 ? text('tlw_message') : '';
  const seam = text('tlw_widest_seam');
  if (status === 1) first = true; // another body to show
  if (!wrong) send();
  const done = status === 2 && call('tlw_sew_save', '/editor/garment.obj') === 0;
  post({ type: 'sewn', key: sewing, stage, part, gap, tie, seam, done, message: wrong || (status === 2 && !done ? text('tlw_message') : '') });
  if (wrong || status === 2) sewing = 0, loaded = false;
}

function opened(key: number, status: number) {
  if (status !== 0) {
    post({ type: 'failed', key, message: text('tlw_message') });
    return;
  }
  const json = text('tlw_scene_json');
  findPlanes(json);
  sewing = 0;
  first = loaded = true;
  due = performance.now();
  post({ type: 'loaded', key, json, notes: text('tlw_notes'), engines });
  send();
  advance();
}

// Cloth goes on from where it is; what it cannot become on its way takes a new start, which the page sees to.
function changed(what: 'fabric' | 'remeshing', status: number) {
  post({ type: 'changed', what, message: status === 0 && loaded && !sewing ? '' : text('tlw_message') || 'nothing is simulated yet' });
  if (loaded && !playing && !sewing) send();
}

let engines: string[] = ['implicit'];
// Engines are asked of the scene reader, so that the menu shows what this build has.
function findEngines() {
  const scene = '{"cloths": [{"mesh": {"rectangle": {"size": [1, 1], "edge": 0.5}}}]}';
  core.FS.writeFile('/probe.json', new TextEncoder().encode(scene));
  for (const kind of ['springs'])
    if (call('tlw_check_scene', '/probe.json', `dynamics.kind=${kind}\nremeshing.kind=none`) === 0) engines.push(kind);
}

function bodies(all: boolean): Shape[] {
  const list: Shape[] = [];
  for (let i = 0; i < call('tlw_body_count'); i++) {
    if (!all && !call('tlw_body_moves', i)) continue;
    const name = text('tlw_body_name', i);
    const body = shape(name, call('tlw_body', i));
    if (planes.has(name)) body.plane = true;
    list.push(body);
  }
  return list;
}

function findPlanes(json: string) {
  planes = new Set<string>();
  if (json) for (const o of JSON.parse(json).obstacles ?? []) if (o.plane) planes.add(o.name);
}

// Panels of a pattern as they start, with the bodies of a scene or those that are shown already.
function arrange(key: number, scene: string | null, pattern: string, edge: number) {
  let shown: Shape[] | null = null;
  if (scene !== null) {
    if (call('tlw_show_bodies', scene) !== 0) {
      post({ type: 'arranged', key, panels: [], bodies: null, message: text('tlw_message') });
      return;
    }
    playing = loaded = false; // the simulation that ran is gone
    sewing = 0;
    findPlanes(text('tlw_scene_json'));
    shown = bodies(true);
  }
  const count = pattern ? call('tlw_panels', pattern, edge) : 0;
  const message = count < 0 ? text('tlw_message') : '';
  const panels = Array.from({ length: Math.max(count, 0) }, (_, i) => shape(text('tlw_panel_name', i), call('tlw_panel', i)));
  post({ type: 'arranged', key, panels, bodies: shown, message }, [...panels, ...(shown ?? [])].map((s) => s.corners.buffer as ArrayBuffer));
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const m = event.data;
  switch (m.type) {
    case 'files':
      for (const file of m.files) {
        core.FS.mkdirTree(file.path.replace(/\/[^/]*$/, '') || '/');
        core.FS.writeFile(file.path, file.data);
      }
      break;
    case 'scene': opened(m.key, call('tlw_load_scene', m.path, m.sets.join('\n')) || (m.fabric && call('tlw_fabric', m.fabric)) || 0); break;
    case 'sew': {
      if (call('tlw_sew', m.pattern, `/data/materials/${m.material}.json`, m.edge) !== 0) {
        post({ type: 'sewn', key: m.key, stage: 0, part: 0, gap: 0, tie: 0, seam: '', done: false, message: text('tlw_message') });
        break;
      }
      sewing = m.key;
      loaded = playing = true;
      advance();
      break;
    }
    case 'arrange': arrange(m.key, m.scene, m.pattern, m.edge); break;
    case 'play':
      playing = m.on;
      due = performance.now();
      post({ type: 'playing', on: m.on });
      advance();
      break;
    case 'fabric': changed('fabric', call('tlw_fabric', m.path)); break;
    case 'remeshing': changed('remeshing', call('tlw_remeshing', m.kind, m.sizeMin, m.sizeMax, m.maxFaces, m.levels)); break;
    case 'step':
      if (sewing) sew();
      else if (loaded && steps(m.count)) send();
      break;
    case 'colour':
      colour = m.colour;
      if (loaded && !playing && !sewing) send();
      break;
    case 'wind': call('tlw_wind', ...m.velocity); break;
    case 'grab': if (!sewing) post({ type: 'held', what: call('tlw_grab', ...m.origin, ...m.direction) }); break;
    case 'drag': call('tlw_drag', ...m.by); break;
    case 'release': call('tlw_release'); break;
    case 'drawn': waiting = false; break;
    case 'convert': {
      const status = call('tlw_convert_pattern', m.from, m.to);
      const data = status === 0 ? core.FS.readFile(m.to) : new Uint8Array();
      post({ type: 'converted', key: m.key, data, message: status === 0 ? text('tlw_pattern_notes') : text('tlw_message'), leftOut: text('tlw_pattern_left_out'), ok: status === 0 });
      break;
    }
  }
};

// Threads are for pages that are isolated; the module that uses them needs memory that can be shared. `self.name` tells where
// the page is and how many threads are wanted.
const { home, wanted } = JSON.parse(self.name) as { home: string; wanted: number };
const threads = self.crossOriginIsolated ? Math.max(1, Math.min(4, wanted || navigator.hardwareConcurrency || 1)) : 1;
const module = threads > 1 ? 'toile-web-threads' : 'toile-web';
const base = new URL('core/', home).href;
const [{ default: create }, binary] = await Promise.all([
  import(/* @vite-ignore */ `${base}${module}.mjs`),
  fetch(`${base}${module}.wasm`).then((r) => r.arrayBuffer()),
]);
if (threads > 1) {
  const memory = new WebAssembly.Memory({ initial: 512, maximum: 32768, shared: true });
  // a simulation is made before the one it follows is gone: workers for two
  core = await create({ wasmBinary: binary, wasmMemory: memory, threadPool: 2 * (threads - 1), mainScriptUrlOrBlob: `${base}${module}.mjs` });
  core.buffer = () => memory.buffer;
} else {
  core = await create({ wasmBinary: binary });
}
call('tlw_threads', threads);
findEngines();
post({ type: 'ready', threads });
