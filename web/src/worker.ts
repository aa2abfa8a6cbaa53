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

const call = (name: string, ...args: (number | string)[]) =>
  core.ccall(name, 'number', args.map((a) => (typeof a === 'number' ? 'number' : 'string')), args) as number;
const text = (name: string, ...args: (number | string)[]) =>
  core.ccall(name, 'string', args.map((a) => (typeof a === 'number' ? 'number' : 'string')), args) as string;

function report(): Report {
  const at = call('tlw_report') / 8;
  return Object.fromEntries(reportNames.map((name, i) => [name, core.HEAPF64[at + i]])) as Report;
}

function shape(name: string, faces: number): Shape {
  const at = call('tlw_corners') / 4;
  return { name, faces, corners: core.HEAPF32.slice(at, at + 27 * Math.max(faces, 0)) };
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

function opened(key: number, status: number) {
  if (status !== 0) {
    post({ type: 'failed', key, message: text('tlw_message') });
    return;
  }
  const json = text('tlw_scene_json');
  findPlanes(json);
  first = loaded = true;
  due = performance.now();
  post({ type: 'loaded', key, json, notes: text('tlw_notes'), engines });
  send();
  advance();
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
    case 'scene': opened(m.key, call('tlw_load_scene', m.path, m.sets.join('\n'))); break;
    case 'arrange': arrange(m.key, m.scene, m.pattern, m.edge); break;
    case 'play':
      playing = m.on;
      due = performance.now();
      advance();
      break;
    case 'step':
      if (loaded && steps(m.count)) send();
      break;
    case 'colour':
      colour = m.colour;
      if (loaded && !playing) send();
      break;
    case 'wind': call('tlw_wind', ...m.velocity); break;
    case 'grab': post({ type: 'held', what: call('tlw_grab', ...m.origin, ...m.direction) }); break;
    case 'drag': call('tlw_drag', ...m.by); break;
    case 'release': call('tlw_release'); break;
    case 'drawn': waiting = false; break;
    case 'convert': {
      const status = call('tlw_convert_pattern', m.from, m.to);
      const data = status === 0 ? core.FS.readFile(m.to) : new Uint8Array();
      post({ type: 'converted', key: m.key, data, message: status === 0 ? text('tlw_pattern_notes') : text('tlw_message'), ok: status === 0 });
      break;
    }
  }
};

const base = new URL('core/', self.name).href;
const [{ default: create }, binary] = await Promise.all([
  import(/* @vite-ignore */ `${base}toile-web.mjs`),
  fetch(`${base}toile-web.wasm`).then((r) => r.arrayBuffer()),
]);
core = await create({ wasmBinary: binary });
findEngines();
post({ type: 'ready' });
