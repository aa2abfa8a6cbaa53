// The pattern editor: toolbar, sheet and inspector beside the body; keeps them in step with the pattern.

import './editor.css';
import type { File_, Shape } from '../messages';
import type { Vector3 } from 'three';
import { duplicate, mirror, moveCorner, panelOf, removeCorner, removePanel } from './edits';
import { formats, readPattern, savePattern, skirt } from './files';
import type { Format } from './files';
import { bodies, bodyScene, BODIES, dressScene, FILE, placeAt, SCENE, setOwnBody } from './garment';
import type { Spot } from './garment';
import { Store } from './history';
import type { Host } from './host';
import { keepBackdrop, keptBackdrop } from './image';
import { Inspector } from './inspector';
import { corner, empty, toFile } from './model';
import type { Pattern } from './model';
import { Sheet } from './sheet';
import type { Selection } from './sheet';
import { hints, Tools, tools } from './tools';
import type { Tool } from './tools';

const OPEN_SEAM = 0.03; // [m] that people should hear of
const EDGE = 0.025; // of the sewn mesh [m]; remeshing goes on from it
const titles: Record<Tool, [string, string]> = {
  select: ['Select', 'V'], draw: ['Draw', 'D'], seam: ['Seam', 'S'], dart: ['Dart', 'T'], line: ['Line', 'L'], corner: ['Corner', 'K'],
};

export class Editor {
  readonly store = new Store();
  readonly sheet: Sheet;
  readonly tools: Tools;
  private inspector: Inspector;
  private hint: HTMLElement;
  private shownBody = ''; // as the worker has it
  private bodyShapes: Shape[] = [];
  private panelShapes: Shape[] = [];
  private turn = 0; // of the last arrangement asked for
  private isDraping = false;
  private wait = 0;
  private drag: { panel: string; from: Vector3; turn: boolean; x: number; merge: string } | null = null;

  constructor(private root: HTMLElement, private host: Host) {
    root.innerHTML = `<div class="ed-bar" role="toolbar" aria-label="Tools"></div><div class="ed-sheet"></div><div class="ed-inspector"></div><p class="ed-hint hint" aria-live="polite"></p>`;
    this.hint = root.querySelector('.ed-hint')!;
    this.sheet = new Sheet(root.querySelector('.ed-sheet')!);
    this.tools = new Tools(this.sheet, this.store, host.say, () => this.refresh());
    this.inspector = new Inspector(root.querySelector('.ed-inspector')!, {
      sheet: this.sheet, store: this.store, host,
      select: (s) => this.select(s),
      place: (panel, spot) => this.place(panel, spot),
      drape: () => void this.drape(),
      arrange: () => void this.arrange(),
      setBackdrop: () => (void keepBackdrop(this.sheet.backdrop), this.sheet.draw(), this.inspector.render()),
    });
    this.toolbar(root.querySelector('.ed-bar')!);
    this.store.listen(() => {
      this.refresh();
      clearTimeout(this.wait);
      this.wait = setTimeout(() => void this.arrange(), 120) as unknown as number;
    });
    root.addEventListener('keydown', (e) => this.key(e));
    if (!this.store.restore()) this.refresh();
    void keptBackdrop().then((b) => b && (this.sheet.setBackdrop(b), this.inspector.render()));
  }

  get draping() {
    return this.isDraping;
  }
  set draping(on: boolean) {
    this.isDraping = on;
    document.body.classList.toggle('draping', on);
  }

  /** Becomes visible. */
  async enter() {
    this.shownBody = ''; // the page showed something else meanwhile
    this.refresh();
    this.sheet.showAll();
    await this.arrange();
  }

  select(selection: Selection) {
    this.sheet.selection = selection;
    this.refresh();
  }

  private refresh() {
    const { pattern } = this.store;
    const s = this.sheet.selection;
    if (('panel' in s && !pattern.panels.some((p) => p.name === s.panel)) || (s.kind === 'seam' && !pattern.seams[s.seam])) this.sheet.selection = { kind: 'none' };
    this.sheet.show(pattern);
    this.inspector.render();
    this.hint.textContent = this.sheet.picked ? 'Now the edge that it is sewn to.' : hints[this.tools.tool];
    for (const t of tools) this.root.querySelector(`#tool-${t}`)?.setAttribute('aria-pressed', String(t === this.tools.tool));
    (this.root.querySelector('#ed-undo') as HTMLButtonElement).disabled = !this.store.canUndo;
    (this.root.querySelector('#ed-redo') as HTMLButtonElement).disabled = !this.store.canRedo;
    this.root.dataset.panels = String(pattern.panels.length);
    this.root.dataset.seams = String(pattern.seams.length);
  }

  // --- toolbar -------------------------------------------------------------------------------------------

  private toolbar(bar: HTMLElement) {
    const button = (id: string, text: string, title: string, act: () => void) => {
      const b = document.createElement('button');
      b.id = id;
      b.textContent = text;
      b.title = title;
      b.onclick = act;
      bar.append(b);
      return b;
    };
    const kind = document.createElement('select');
    kind.setAttribute('aria-label', 'Kind of line');
    kind.append(...['internal', 'fold', 'hole', 'drill'].map((k) => new Option(k, k)));
    kind.onchange = () => ((this.tools.lineKind = kind.value as 'fold'), this.tools.choose('line'));
    for (const t of tools) {
      button(`tool-${t}`, titles[t][0], `${hints[t]} (${titles[t][1]})`, () => this.tools.choose(t));
      if (t === 'line') bar.append(kind);
    }
    button('ed-undo', 'Undo', 'Ctrl+Z', () => this.store.undo());
    button('ed-redo', 'Redo', 'Ctrl+Y', () => this.store.redo());
    const snap = button('ed-snap', 'Snap', 'To whole centimetres; Alt leaves it off for once', () => {
      this.tools.snap = !this.tools.snap;
      snap.setAttribute('aria-pressed', String(this.tools.snap));
    });
    snap.setAttribute('aria-pressed', 'true');
    button('ed-all', 'All in view', 'Home', () => this.sheet.showAll());
    button('ed-new', 'New', 'An empty sheet; what was there can be undone', () => (this.store.replace(empty()), this.sheet.showAll()));
    button('ed-skirt', 'Skirt', 'A skirt of two panels to begin with', () => this.openSkirt());
    const save = document.createElement('select');
    save.id = 'ed-save';
    save.setAttribute('aria-label', 'Save the pattern');
    save.append(new Option('Save…', ''), ...Object.entries(formats).map(([format, { title }]) => new Option(title, format)));
    save.onchange = () => {
      const format = save.value as Format;
      save.value = '';
      savePattern(this.host, this.store.pattern, format).then(
        (leftOut) => leftOut && this.host.say(`Saved without ${leftOut}: this format has no place for them.`),
      ).catch((e: Error) => this.host.say(`Not saved: ${e.message}`, true));
    };
    bar.append(save);
    const file = document.createElement('input');
    file.type = 'file';
    file.hidden = true;
    file.accept = 'image/*';
    file.onchange = () => file.files?.[0] && this.trace(file.files[0]);
    bar.append(file);
    button('ed-trace', 'Trace a picture…', 'Puts a picture under the sheet', () => file.click());
  }

  private openSkirt() {
    const pattern = skirt();
    if (this.bodyShapes.length) for (const p of pattern.panels) placeAt(p, p.name === 'back' ? 'waist back' : 'waist front', this.bodyShapes);
    this.store.replace(pattern);
    this.sheet.showAll();
  }

  /** A picture to trace over, half a metre wide until told otherwise. */
  trace(image: Blob) {
    this.sheet.setBackdrop({ image, width: 0.5, at: [0, 0.5], shade: 0.5 });
    void keepBackdrop(this.sheet.backdrop);
    this.inspector.render();
  }

  async openFile(path: string, files: File_[]) {
    const { pattern, notes } = await readPattern(this.host, path, files);
    this.store.replace({ ...pattern, fabric: this.store.pattern.fabric, body: this.store.pattern.body });
    this.select({ kind: 'none' });
    this.sheet.showAll();
    this.host.say(`${pattern.name}: ${pattern.panels.length} panels, ${pattern.seams.length} seams.${notes ? `\n${notes}` : ''}`);
  }

  /** A dropped mesh or character becomes the body to dress. */
  useBody(path: string) {
    setOwnBody(path);
    this.shownBody = '';
    this.store.change((p) => (p.body = 'own'));
    void this.arrange();
  }

  openShared(text: string) {
    const pattern = JSON.parse(text) as Pattern;
    if (!Array.isArray(pattern.panels) || !Array.isArray(pattern.seams)) throw new Error('no pattern');
    this.store.replace({ ...empty(), ...pattern });
  }

  // --- keys ----------------------------------------------------------------------------------------------

  private key(e: KeyboardEvent) {
    const at = e.target as HTMLElement;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
    const command = e.ctrlKey || e.metaKey;
    const k = e.key.toLowerCase();
    const s = this.sheet.selection;
    const act = (run: () => void) => (e.preventDefault(), e.stopPropagation(), run());
    if (command && k === 'z') return act(() => (e.shiftKey ? this.store.redo() : this.store.undo()));
    if (command && k === 'y') return act(() => this.store.redo());
    if (typing) return;
    if (command && k === 'd' && 'panel' in s) return act(() => this.store.change((p) => void duplicate(p, s.panel)));
    if (command) return;
    const tool = tools.find((t) => titles[t][1].toLowerCase() === k);
    if (tool) return act(() => this.tools.choose(tool));
    if (e.key === 'Escape') return act(() => (this.tools.drop(), this.tools.choose('select')));
    if (e.key === 'Enter' && at.tagName !== 'BUTTON') return act(() => (this.tools.tool === 'seam' && s.kind === 'edge' ? this.tools.sew(s) : this.tools.finish()));
    if (e.key === 'Home') return act(() => this.sheet.showAll());
    if (k === 'm' && 'panel' in s) return act(() => this.store.change((p) => mirror(p, s.panel)));
    if (k === '+' || k === '-') return act(() => this.sheet.zoom(k === '+' ? 1.15 : 1 / 1.15, this.sheet.middle));
    if (k === 'tab' && at === (this.sheet.svg as Element) && this.store.pattern.panels.length) return;
    if (e.key === 'Delete' || e.key === 'Backspace') return act(() => this.remove());
    const step = e.shiftKey ? 0.05 : 0.01;
    const ways: Record<string, [number, number]> = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (ways[e.key] && s.kind === 'corner')
      act(() => this.store.change((p) => {
        const panel = panelOf(p, s.panel);
        const from = corner(panel, s.edge);
        moveCorner(panel, s.edge, [from[0] + ways[e.key][0], from[1] + ways[e.key][1]]);
      }, 'nudge'));
    else if (ways[e.key] && 'panel' in s)
      act(() => this.store.change((p) => {
        const panel = panelOf(p, s.panel);
        panel.sheet = [panel.sheet[0] + ways[e.key][0], panel.sheet[1] + ways[e.key][1]];
      }, 'nudge'));
    else if ((k === 'e' || k === 'c') && 'panel' in s) // for hands without a pointer: next edge, corner, panel
      act(() => {
        const kind = k === 'e' ? 'edge' : 'corner';
        const count = panelOf(this.store.pattern, s.panel).edges.length;
        this.select({ kind, panel: s.panel, edge: s.kind === kind ? (s.edge + (e.shiftKey ? count - 1 : 1)) % count : 0 });
      });
    else if (k === 'n')
      act(() => {
        const names = this.store.pattern.panels.map((p) => p.name);
        if (names.length) this.select({ kind: 'panel', panel: names[(names.indexOf('panel' in s ? s.panel : '') + 1) % names.length] });
      });
  }

  private remove() {
    const s = this.sheet.selection;
    this.store.change((p) => {
      if (s.kind === 'panel') removePanel(p, s.panel);
      else if (s.kind === 'corner') removeCorner(p, panelOf(p, s.panel), s.edge);
      else if (s.kind === 'seam') p.seams.splice(s.seam, 1);
      else if (s.kind === 'dart') panelOf(p, s.panel).darts.splice(s.dart, 1);
      else if (s.kind === 'line') panelOf(p, s.panel).lines.splice(s.line, 1);
    });
    this.select({ kind: 'none' });
  }

  // --- around the body -----------------------------------------------------------------------------------

  private file(path: string, data: Uint8Array): File_ {
    return { path, data };
  }

  /** Shows the panels where they start, and the body. */
  async arrange(forSewing = false) {
    const { pattern } = this.store;
    const body = pattern.body;
    const mine = ++this.turn;
    let scene: string | null = null;
    if (body !== this.shownBody || this.draping || forSewing) {
      if (bodies[body]?.folder) await this.host.sceneFiles(bodies[body].folder);
      this.host.tell({ type: 'files', files: [this.file(BODIES, bodyScene(pattern))] });
      scene = BODIES;
    }
    this.draping = false;
    this.host.tell({ type: 'files', files: [this.file(FILE, new TextEncoder().encode(toFile(pattern)))] });
    const answer = await this.host.arrange(scene, pattern.panels.length ? FILE : '', EDGE);
    if (this.draping || (mine !== this.turn && !answer.bodies)) return;
    this.root.dataset.wrong = answer.message;
    if (answer.bodies) {
      this.shownBody = body;
      this.bodyShapes = answer.bodies.map((b) => ({ ...b, corners: b.corners.slice() }));
      this.host.view.clear();
    }
    if (answer.message && pattern.panels.length) this.hint.textContent = answer.message.replace(`${FILE}: `, '');
    else this.panelShapes = answer.panels;
    this.host.view.clearCloths();
    this.host.view.update(this.panelShapes, answer.bodies ?? []);
    if (answer.bodies) this.host.view.frame(25, 8);
    this.host.view.draw();
    this.root.dataset.shown = String(this.panelShapes.length);
    this.root.dataset.arranged = String(Number(this.root.dataset.arranged ?? 0) + 1);
  }

  private place(name: string, spot: Spot) {
    this.store.change((p) => placeAt(panelOf(p, name), spot, this.bodyShapes));
  }

  async drape() {
    const { pattern } = this.store;
    if (pattern.panels.length === 0) return this.host.say('There is nothing to sew yet: draw a panel.', true);
    if (pattern.panels.some((p) => !p.placement)) {
      const name = pattern.panels.find((p) => !p.placement)!.name;
      return this.host.say(`Panel ${name} has no place around the body: choose it, then "Put".`, true);
    }
    await this.arrange(true);
    if (this.root.dataset.wrong) return this.host.say(this.root.dataset.wrong.replace(`${FILE}: `, ''), true);
    this.draping = true;
    delete this.root.dataset.draped;
    this.hint.textContent = 'Sewing…';
    const sewn = await this.host.sew(FILE, pattern.fabric, EDGE, (now) => {
      this.root.dataset.sewing = String(now.stage);
      this.hint.textContent = now.stage === 0 ? `Sewing: the widest gap is ${(100 * now.gap).toFixed(1)} cm` : 'Sewn. The body takes its size…';
    });
    let wrong = sewn.message;
    if (!wrong) {
      this.host.tell({ type: 'files', files: [this.file(SCENE, dressScene(pattern, sewn.tie))] });
      wrong = await this.host.drape(SCENE, pattern.hold && sewn.tie > 0);
      if (!wrong && sewn.gap > OPEN_SEAM) this.host.say(`The seam of ${sewn.seam} came no nearer than ${(100 * sewn.gap).toFixed(1)} cm before it was sewn: is something in the way, or a side too short?`, true);
    }
    this.hint.textContent = hints[this.tools.tool];
    this.root.dataset.draped = wrong ? 'failed' : 'yes';
    if (wrong) {
      this.host.say(wrong.replaceAll('/editor/', ''), true);
      await this.arrange();
    }
  }

  // --- panels dragged in space ---------------------------------------------------------------------------

  grab(name: string, point: Vector3, e: PointerEvent): boolean {
    if (this.draping || !this.store.pattern.panels.some((p) => p.name === name)) return false;
    this.drag = { panel: name, from: point.clone(), turn: e.shiftKey, x: e.clientX, merge: `space ${e.timeStamp}` };
    this.select({ kind: 'panel', panel: name });
    return true;
  }

  dragTo(point: Vector3, e: PointerEvent) {
    const d = this.drag;
    if (!d) return;
    this.store.change((p) => {
      const panel = panelOf(p, d.panel);
      panel.placement ??= { origin: [0, 0, 0], rotation: [0, 0, 0], bend: 0 };
      if (d.turn) panel.placement.rotation[1] += (e.clientX - d.x) * 0.5;
      else panel.placement.origin = panel.placement.origin.map((v, i) => Math.round(1e4 * (v + point.getComponent(i) - d.from.getComponent(i))) / 1e4) as [number, number, number];
    }, d.merge);
    d.from.copy(point);
    d.x = e.clientX;
  }

  letGo() {
    this.drag = null;
    this.store.settle();
  }
}
