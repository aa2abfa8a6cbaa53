// The page: settings, gallery, pointer and keys on one side, the worker and the picture on the other.

import './style.css';
import { exhibits, fabricFiles, fabrics, sceneFiles } from './gallery';
import { colours } from './messages';
import type { Colour, File_, FromWorker, Report, ToWorker } from './messages';
import { defaults, fromLink, toLink } from './settings';
import type { Settings } from './settings';
import { palette, ranges, View } from './view';
import { listen } from './hands';
import { Recording } from './recording';
import { overBody, recognise } from './dropped';
import type { Editor } from './editor/editor';
import type { Arranged, Converted, Host, Sewn } from './editor/host';

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const view = new View($<HTMLCanvasElement>('canvas'));
const worker = new Worker(new URL('./worker.ts', import.meta.url), {
  type: 'module', name: JSON.stringify({ home: new URL('.', document.baseURI).href, wanted: Number(new URLSearchParams(location.search).get('threads')) }),
});
const tell = (message: ToWorker, transfer: Transferable[] = []) => worker.postMessage(message, transfer);

let settings: Settings = { ...defaults };
let playing = true;
let key = 0; // of the last load asked for; answers to older ones are not looked at
let custom: { path: string; sets: string[] } | null = null; // what was dropped
let sceneJson: { cloths?: { name: string; material?: unknown }[]; camera?: { azimuth?: number; elevation?: number }; appearance?: Record<string, { color?: string; back?: string }> } = {};
let recording: Recording | null = null;
let frameCamera = true;
let needsDraw = true;
let report: Report | null = null;
const frameTimes: number[] = [];

// --- messages --------------------------------------------------------------------------------------------

export function say(text: string, bad = false) {
  const box = $('message');
  box.querySelector('p')!.textContent = text;
  box.classList.toggle('bad', bad);
  box.hidden = false;
  if (!bad) setTimeout(() => (box.querySelector('p')!.textContent === text ? (box.hidden = true) : 0), 4000);
}
$('message').querySelector('button')!.onclick = () => ($('message').hidden = true);

// --- loading ---------------------------------------------------------------------------------------------

const halvings = () => Math.max(1, Math.min(4, Math.round(Math.log2(110 / settings.sizeMin)))); // of edges of about 10 cm
const kinds = { none: 0, anisotropic: 1, isotropic: 2, trees: 4 }; // tl_remeshing_kind

const fabricPath = () => (settings.fabric ? `/data/materials/${settings.fabric}.json` : '');

// What the panel says to the cloth that is there; it starts again only if that cannot be.
function changeFabric() {
  if (recording) return;
  tell({ type: 'fabric', path: fabricPath() });
  view.setLooks(looks());
}
function changeRemeshing() {
  if (recording) return;
  const { remeshing, sizeMin, sizeMax, maxFaces } = settings;
  if (settings.engine === 'springs') tell({ type: 'remeshing', kind: remeshing === 'none' ? kinds.none : kinds.trees, sizeMin: 0, sizeMax: 0, maxFaces, levels: halvings() });
  else tell({ type: 'remeshing', kind: kinds[remeshing], sizeMin: sizeMin / 1000, sizeMax: Math.max(sizeMax, sizeMin) / 1000, maxFaces, levels: 0 });
}

// What the panel says, as settings of the scene reader.
function sets(): string[] {
  const springs = settings.engine === 'springs';
  return springs ? [
    `fps=${settings.rate}`, 'steps_per_frame=1', 'dynamics.kind=springs', `remeshing.kind=${settings.remeshing === 'none' ? 'none' : 'edge-trees'}`,
    ...(settings.remeshing === 'none' ? [] : [`remeshing.levels=${halvings()}`, `remeshing.max_faces=${settings.maxFaces}`]),
  ] : [
    `fps=${settings.rate / 2}`, 'steps_per_frame=2', `remeshing.kind=${settings.remeshing}`,
    `remeshing.size_min=${settings.sizeMin / 1000}`, `remeshing.size_max=${Math.max(settings.sizeMax, settings.sizeMin) / 1000}`,
    `remeshing.max_faces=${settings.maxFaces}`, 'solver.newton_tolerance=0.06', 'solver.linear_tolerance=0.05',
  ];
}

const sent = new Set<string>();

async function load(newCamera: boolean) {
  const mine = ++key;
  frameCamera = newCamera;
  closeRecording();
  try {
    if (custom) {
      tell({ type: 'scene', path: custom.path, sets: [...custom.sets, ...sets()], fabric: fabricPath(), key: mine });
      return;
    }
    const exhibit = exhibits.find((e) => e.name === settings.scene) ?? exhibits[0];
    for (const folder of [exhibit.also ?? exhibit.folder, exhibit.folder]) await host.sceneFiles(folder);
    if (mine !== key) return;
    tell({ type: 'scene', path: `/scenes/${exhibit.folder}/scene.json`, sets: [...exhibit.sets, ...sets()], fabric: fabricPath(), key: mine });
  } catch (e) {
    say(`Could not load the scene: ${(e as Error).message}`, true);
  }
}

function applyWind() {
  if (settings.wind === 0 && !windTouched) return; // the scene's own wind
  const a = (settings.windFrom * Math.PI) / 180;
  tell({ type: 'wind', velocity: [settings.wind * Math.sin(a), 0, settings.wind * Math.cos(a)] });
}
let windTouched = false;

function looks() {
  const map = new Map<string, { color: string; back: string }>();
  for (const cloth of sceneJson.cloths ?? []) {
    const fabric = fabrics.find((f) => f.name === (settings.fabric || cloth.material));
    if (fabric) map.set(cloth.name, { color: fabric.color, back: fabric.color });
  }
  for (const [name, look] of Object.entries(sceneJson.appearance ?? {}))
    if (look.color && !(settings.fabric && map.has(name))) map.set(name, { color: look.color, back: look.back ?? look.color });
  return map;
}

worker.onmessage = (event: MessageEvent<FromWorker>) => {
  const m = event.data;
  if (m.type === 'ready') {
    tell({ type: 'files', files: fabricFiles() });
    document.body.dataset.ready = '1';
    document.body.dataset.threads = String(m.threads);
    tell({ type: 'colour', colour: settings.colour });
    if (settings.pattern) void openShared(settings.pattern);
    else void load(true);
  } else if (m.type === 'loaded') {
    if (m.key !== key) return;
    sceneJson = m.json ? JSON.parse(m.json) : {};
    view.clear();
    view.setLooks(looks());
    fillEngines(m.engines);
    $('notes').textContent = m.notes.trim();
    applyWind();
    tell({ type: 'play', on: playing });
    draped?.('');
    draped = null;
  } else if (m.type === 'frame') {
    tell({ type: 'drawn' });
    if (recording || (editing() && !editor?.draping)) return;
    report = m.report;
    view.update(m.cloths, m.bodies);
    if (m.first) {
      if (frameCamera) view.frame(sceneJson.camera?.azimuth, sceneJson.camera?.elevation);
      if (frameCamera && settings.camera) restoreCamera(settings.camera);
      frameCamera = false;
      document.body.dataset.shown = String(performance.now() | 0);
    }
    if (m.first) document.body.dataset.first = String(key);
    document.body.dataset.hash = m.hash;
    frameTimes.push(performance.now());
    if (frameTimes.length > 40) frameTimes.shift();
    showStats();
    needsDraw = true;
  } else if (m.type === 'failed') {
    if (m.key !== key) return;
    document.body.dataset.failed = String(m.key);
    if (draped) draped(m.message);
    else say(m.message, true);
    draped = null;
  } else if (m.type === 'playing') {
    document.body.dataset.running = m.on ? '1' : '0';
  } else if (m.type === 'changed') {
    if (m.message) void load(false); // not on the way: from the start, then
    else document.body.dataset.changes = String(Number(document.body.dataset.changes ?? 0) + 1);
  } else if (m.type === 'stopped') {
    setPlaying(false);
    say(`The simulation stopped: ${m.message}`, true);
  } else if (m.type === 'sewn') {
    if (m.key === key) watchSewing?.(m);
  } else if (m.type === 'held') {
    document.body.dataset.held = String(m.what);
  } else if (m.type === 'arranged' || m.type === 'converted') {
    answers.get(m.key)?.(m as never);
    answers.delete(m.key);
  }
};
worker.onerror = (e) => say(`The simulator could not be started: ${e.message}`, true);

function showStats() {
  if (!report) return;
  const n = frameTimes.length;
  const rate = n > 1 && playing ? (1000 * (n - 1)) / (frameTimes[n - 1] - frameTimes[0]) : 0;
  $('stats').textContent =
    `${report.faces} triangles · ${report.ms > 0 ? `${report.ms.toFixed(1)} ms a step · ` : ''}${rate ? `${rate.toFixed(0)} frames/s · ` : ''}t ${report.time.toFixed(2)} s`;
  const d = document.body.dataset;
  d.steps = String(report.steps);
  d.faces = String(report.faces);
  d.ms = report.ms.toFixed(2);
}

// --- the pattern editor -----------------------------------------------------------------------------------

let editor: Editor | null = null;
const editing = () => !$('editor').hidden;
const answers = new Map<number, (answer: never) => void>();
let asked = 0;
function ask<T>(message: (key: number) => ToWorker): Promise<T> {
  const mine = ++asked;
  tell(message(mine));
  return new Promise<T>((yes) => answers.set(mine, yes as (answer: never) => void));
}
let draped: ((wrong: string) => void) | null = null;
let untied: Settings['remeshing'] | null = null; // remeshing before a garment was tied to the body
let watchSewing: ((now: Sewn) => void) | null = null;

const host: Host = {
  view, tell, say, fabrics,
  convert: (from, to) => ask<Converted>((k) => ({ type: 'convert', from, to, key: k })),
  arrange: (scene, pattern, edge) => {
    key++; // answers to loads are late now
    closeRecording();
    return ask<Arranged>((k) => ({ type: 'arrange', scene, pattern, edge, key: k }));
  },
  sew: (pattern, material, edge, watch) => new Promise((yes) => {
    const mine = ++key;
    closeRecording();
    sceneJson = { cloths: [{ name: 'garment', material }], appearance: { body: { color: '#aab3bd' } } }; // drawn in: a form, not a person
    view.clear();
    view.setLooks(looks());
    watchSewing = (now) => {
      watch(now);
      if (now.done || now.message) (watchSewing = null), yes(now);
    };
    setPlaying(true);
    tell({ type: 'sew', pattern, material, edge, key: mine });
  }),
  drape: (path, tied) => new Promise((yes) => {
    draped = yes;
    if (tied && settings.remeshing !== 'none') (untied = settings.remeshing), (settings.remeshing = 'none'); // ties want it
    else if (!tied && untied) settings.remeshing = untied;
    if (!tied) untied = null;
    custom = { path, sets: [] };
    settings.fabric = '';
    showSettings();
    setPlaying(true);
    void load(false);
  }),
  async sceneFiles(folder) {
    if (sent.has(folder)) return;
    tell({ type: 'files', files: await sceneFiles(folder) });
    sent.add(folder);
  },
};

async function showEditor(): Promise<Editor> {
  const first = !editor;
  if (!editor) {
    const module = await import('./editor/editor');
    editor = new module.Editor($('editor'), host);
  }
  if (!editing() || first) {
    $('editor').hidden = false;
    document.body.classList.add('editing');
    markTab();
    await new Promise((yes) => requestAnimationFrame(yes));
    await editor.enter();
  }
  return editor;
}

function leaveEditor() {
  if (!editing()) return;
  $('editor').hidden = true;
  document.body.classList.remove('editing');
  markTab();
}

async function openShared(pattern: string) {
  try {
    const shown = await showEditor();
    shown.openShared(pattern);
    shown.sheet.showAll();
  } catch (e) {
    say(`The pattern of the link is damaged: ${(e as Error).message}`, true);
  }
}

function markTab() {
  $('tab-editor').setAttribute('aria-pressed', String(editing()));
  $('tab-play').setAttribute('aria-pressed', String(!editing()));
}
$('tab-editor').onclick = () => void showEditor().catch((e: Error) => say(`The editor could not be opened: ${e.message}`, true));
$('tab-play').onclick = () => {
  if (!editing()) return;
  const dressed = editor!.draping;
  leaveEditor();
  if (dressed) return; // what was draped goes on
  if (untied) (settings.remeshing = untied), (untied = null);
  custom = null;
  void load(true);
};

// --- recordings and dropped files -------------------------------------------------------------------------

function closeRecording() {
  recording = null;
  $('player').hidden = true;
}

function showRecorded(index: number) {
  if (!recording) return;
  const shapes = recording.frame(index);
  view.update(shapes.cloths, shapes.bodies);
  $('frame-no').textContent = `${index + 1} of ${recording.count}`;
  $('stats').textContent = `${shapes.cloths.reduce((s, c) => s + c.faces, 0)} triangles · recording`;
  document.body.dataset.frame = String(index);
  needsDraw = true;
}

export async function openFiles(files: { path: string; file: File }[]) {
  if (files.length === 0) return;
  try {
    if (Recording.is(files.map((f) => f.path))) {
      const opened = await Recording.open(files);
      tell({ type: 'play', on: false });
      key++;
      recording = opened;
      view.clear();
      const scrub = $<HTMLInputElement>('scrub');
      scrub.max = String(opened.count - 1);
      scrub.value = '0';
      $('player').hidden = false;
      showRecorded(0);
      view.frame();
      setPlaying(false);
      say(`A recording of ${opened.count} frames.`);
      return;
    }
    const data: File_[] = await Promise.all(files.map(async (f) => ({ path: `/dropped/${f.path}`, data: new Uint8Array(await f.file.arrayBuffer()) })));
    const found = recognise(data);
    if ('error' in found) {
      say(found.error, true);
      return;
    }
    if (found.kind === 'pattern') {
      await (await showEditor()).openFile(found.path, data);
      return;
    }
    tell({ type: 'files', files: [...data, ...found.extra] });
    if (editing() && found.kind === 'mesh') {
      editor!.useBody(found.mesh);
      return;
    }
    if (found.kind === 'mesh' && found.body) {
      const seen = await host.arrange(found.path, '', 0);
      if (!seen.bodies) throw new Error(seen.message);
      tell({ type: 'files', files: [overBody(found, seen.bodies)] });
    }
    leaveEditor();
    custom = { path: found.path, sets: found.sets };
    sceneJson = {};
    if (found.kind === 'scene') settings.fabric = $<HTMLSelectElement>('fabric').value = '';
    markGallery('');
    await load(true);
  } catch (e) {
    say(`Could not open that: ${(e as Error).message}`, true);
  }
}

async function entriesOf(entry: FileSystemEntry, into: { path: string; file: File }[]) {
  if (entry.isFile) {
    const file = await new Promise<File>((yes, no) => (entry as FileSystemFileEntry).file(yes, no));
    into.push({ path: entry.fullPath.replace(/^\//, ''), file });
  } else {
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const part = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, no));
      if (part.length === 0) return;
      for (const e of part) await entriesOf(e, into);
    }
  }
}

window.addEventListener('dragover', (e) => (e.preventDefault(), ($('drop').hidden = false)));
window.addEventListener('dragleave', (e) => !e.relatedTarget && ($('drop').hidden = true));
window.addEventListener('drop', async (e) => {
  e.preventDefault();
  $('drop').hidden = true;
  const files: { path: string; file: File }[] = [];
  const entries = [...(e.dataTransfer?.items ?? [])].map((i) => i.webkitGetAsEntry?.()).filter((x) => x !== null && x !== undefined);
  if (entries.length) for (const entry of entries) await entriesOf(entry, files);
  else for (const file of e.dataTransfer?.files ?? []) files.push({ path: file.name, file });
  await openFiles(files);
});
for (const [button, input] of [['open', 'file'], ['open-folder', 'folder']]) {
  $(button).onclick = () => $(input).click();
  $<HTMLInputElement>(input).onchange = async (e) => {
    const list = [...((e.target as HTMLInputElement).files ?? [])];
    await openFiles(list.map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    (e.target as HTMLInputElement).value = '';
  };
}
$('scrub').oninput = () => showRecorded(Number($<HTMLInputElement>('scrub').value));

// --- panel -----------------------------------------------------------------------------------------------

function markGallery(name: string) {
  for (const b of $('gallery').querySelectorAll('button')) b.setAttribute('aria-pressed', String(b.dataset.name === name));
}

function choose(name: string) {
  const exhibit = exhibits.find((e) => e.name === name)!;
  const keep = { rate: settings.rate, engine: settings.engine, remeshing: untied ?? settings.remeshing };
  untied = null;
  settings = { ...defaults, ...keep, ...(exhibit.settings as Partial<Settings>), scene: name };
  custom = null;
  windTouched = false;
  showSettings();
  void load(true);
}

for (const e of exhibits) {
  const b = document.createElement('button');
  b.dataset.name = e.name;
  b.innerHTML = `${e.title}<small>${e.about}</small>`;
  b.onclick = () => choose(e.name);
  $('gallery').append(b);
}
$('fabric').append(new Option("the scene's own", ''), ...fabrics.map((f) => new Option(f.name, f.name)));
$('colour').append(...colours.map((c) => new Option(ranges[c].label, c)));

function fillEngines(engines: string[]) {
  const select = $<HTMLSelectElement>('engine');
  if (select.options.length === engines.length) return;
  const names: Record<string, string> = { implicit: 'implicit (accurate)', springs: 'springs (real time)' };
  select.replaceChildren(...engines.map((e) => new Option(names[e] ?? e, e)));
  select.value = settings.engine;
}
fillEngines(['implicit']);

const units: Record<string, string> = { sizeMin: ' mm', sizeMax: ' mm', maxFaces: '', wind: ' m/s', windFrom: '°' };

function showSettings() {
  for (const id of ['sizeMin', 'sizeMax', 'maxFaces', 'wind', 'windFrom'] as const) {
    $<HTMLInputElement>(id).value = String(settings[id]);
    $(`${id}-out`).textContent = `${settings[id]}${units[id]}`;
  }
  for (const id of ['fabric', 'engine', 'remeshing', 'rate', 'colour'] as const) $<HTMLSelectElement>(id).value = String(settings[id]);
  $<HTMLInputElement>('wire').checked = settings.wire;
  $('engine-use').textContent = settings.engine === 'springs' ? 'Fast; keeps cloth out of bodies, but layers may pass through each other.' : '';
  $('fabric-use').textContent = fabrics.find((f) => f.name === settings.fabric)?.use ?? '';
  markGallery(custom ? '' : settings.scene);
  view.setWire(settings.wire);
  setColour(settings.colour);
  needsDraw = true;
}

function setColour(colour: Colour) {
  settings.colour = colour;
  view.setColour(colour);
  tell({ type: 'colour', colour });
  const r = ranges[colour];
  $('legend').hidden = colour === 'none';
  $('legend-label').textContent = r.label;
  $('legend-low').textContent = `${+(r.low * r.scale).toPrecision(3)}`;
  $('legend-high').textContent = `${+(r.high * r.scale).toPrecision(3)} ${r.unit}`;
  $('legend-bar').style.background = `linear-gradient(90deg, ${palette.join(', ')})`;
  needsDraw = true;
}

let later = 0;
for (const id of ['sizeMin', 'sizeMax', 'maxFaces'] as const)
  $(id).oninput = () => {
    settings[id] = Number($<HTMLInputElement>(id).value);
    showSettings();
    clearTimeout(later);
    later = setTimeout(changeRemeshing, 200) as unknown as number;
  };
for (const [id, act] of [['fabric', changeFabric], ['remeshing', changeRemeshing], ['engine', () => load(false)]] as const)
  $(id).onchange = () => {
    (settings as Record<string, unknown>)[id] = $<HTMLSelectElement>(id).value;
    showSettings();
    void act();
  };
$('rate').onchange = () => ((settings.rate = Number($<HTMLSelectElement>('rate').value)), load(false));
for (const id of ['wind', 'windFrom'] as const)
  $(id).oninput = () => {
    settings[id] = Number($<HTMLInputElement>(id).value);
    windTouched = true;
    showSettings();
    applyWind();
  };
$('colour').onchange = () => setColour($<HTMLSelectElement>('colour').value as Colour);
$('wire').onchange = () => ((settings.wire = $<HTMLInputElement>('wire').checked), showSettings());
$('home').onclick = () => view.frame(sceneJson.camera?.azimuth, sceneJson.camera?.elevation);
$('picture').onclick = () => {
  view.draw();
  const a = document.createElement('a');
  a.href = $<HTMLCanvasElement>('canvas').toDataURL('image/png');
  a.download = 'toile.png';
  a.click();
};

function setPlaying(on: boolean) {
  playing = on;
  $('play').textContent = on ? 'Pause' : 'Play';
  frameTimes.length = 0;
  if (!recording) tell({ type: 'play', on });
}
$('play').onclick = () => setPlaying(!playing);
$('step').onclick = () => {
  if (recording) nextRecorded();
  else setPlaying(false), tell({ type: 'step', count: 1 });
};
$('reset').onclick = () => {
  if (recording) ($<HTMLInputElement>('scrub').value = '0'), showRecorded(0);
  else void load(false);
};
function nextRecorded() {
  const scrub = $<HTMLInputElement>('scrub');
  scrub.value = String((Number(scrub.value) + 1) % recording!.count);
  showRecorded(Number(scrub.value));
}
setInterval(() => recording && playing && nextRecorded(), 40);

$('share').onclick = async () => {
  const p = view.camera.position;
  const t = view.controls.target;
  settings.camera = [p.x, p.y, p.z, t.x, t.y, t.z].map((x) => Math.round(x * 1000) / 1000);
  settings.pattern = editing() && editor ? JSON.stringify(editor.store.pattern) : undefined;
  const hash = await toLink(settings);
  history.replaceState(null, '', `#${hash}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link is in the clipboard and in the address bar.');
  } catch {
    say('The link is in the address bar.');
  }
};

function restoreCamera(c: number[]) {
  view.camera.position.set(c[0], c[1], c[2]);
  view.controls.target.set(c[3], c[4], c[5]);
  view.controls.update();
}

function setTheme(dark: boolean) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  view.setTheme(dark);
}
const kept = localStorage.getItem('toile-theme');
setTheme(kept ? kept === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);
$('theme').onclick = () => {
  const dark = document.documentElement.dataset.theme !== 'dark';
  localStorage.setItem('toile-theme', dark ? 'dark' : 'light');
  setTheme(dark);
};
$('menu').onclick = () => $('menu').setAttribute('aria-expanded', String($('panel').classList.toggle('open')));

function showKeys() {
  if (!$('panel').classList.contains('open') && getComputedStyle($('menu')).display !== 'none') $('menu').click();
  const keys = document.querySelector('details')!;
  keys.open = true;
  keys.scrollIntoView({ block: 'end' });
}

listen($<HTMLCanvasElement>('canvas'), {
  view, tell,
  recorded: () => recording !== null,
  editor: () => (editing() ? editor : null),
  changed: () => (needsDraw = true),
  keys: {
    ' ': () => $('play').click(), s: () => $('step').click(), r: () => $('reset').click(), w: () => $('wire').click(),
    c: () => { setColour(colours[(colours.indexOf(settings.colour) + 1) % colours.length]); showSettings(); },
    o: () => $('open').click(), Home: () => $('home').click(), '?': showKeys,
  },
});

function loop() {
  if (view.controls.update()) needsDraw = true;
  if (needsDraw && !view.busy) {
    needsDraw = false;
    view.draw();
  }
  requestAnimationFrame(loop);
}

try {
  settings = await fromLink(location.hash);
  windTouched = settings.wind > 0;
} catch {
  say('The link is damaged; the settings are the usual ones.', true);
}
if (!exhibits.some((e) => e.name === settings.scene)) settings.scene = defaults.scene;
showSettings();
loop();
// For tests: what a person sees, without reading pixels.
Object.assign(window, { toile: { view, settings: () => settings, openFiles, editor: () => editor } });
