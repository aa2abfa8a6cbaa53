// Beside the sheet: what is chosen with its numbers, the seams with their lengths, the body, the fabric, the backdrop.

import { isStraight } from './curve';
import { mirror, panelOf, removeCorner, removePanel, rename, shapeEdge, splitEdge, turnSeam, unfold, centre, duplicate } from './edits';
import { bodies, spots } from './garment';
import type { Spot } from './garment';
import type { Store } from './history';
import type { Host } from './host';
import { area, edgeLength, edgePoint, lineKinds, sideLength } from './model';
import type { Panel, Vec3 } from './model';
import { seamColours } from './sheet';
import type { Selection, Sheet } from './sheet';

type Parts = {
  sheet: Sheet; store: Store; host: Host;
  select(selection: Selection): void;
  place(panel: string, spot: Spot): void;
  drape(): void; arrange(): void; setBackdrop(): void;
};

const cm = (x: number) => +(100 * x).toFixed(1);

export class Inspector {
  constructor(private box: HTMLElement, private parts: Parts) {}

  render() {
    const active = (document.activeElement as HTMLElement | null)?.dataset?.key;
    this.box.replaceChildren();
    this.chosen();
    this.garment();
    this.seams();
    this.backdrop();
    if (active) this.box.querySelector<HTMLElement>(`[data-key="${active}"]`)?.focus();
  }

  // --- parts of a form -----------------------------------------------------------------------------------

  private section(title: string): HTMLElement {
    const s = document.createElement('section');
    const h = document.createElement('h2');
    h.textContent = title;
    s.append(h);
    this.box.append(s);
    return s;
  }
  private label(into: HTMLElement, text: string, control: HTMLElement, key: string) {
    const label = document.createElement('label');
    label.append(`${text} `, control);
    control.dataset.key = key;
    into.append(label);
  }
  private number(into: HTMLElement, text: string, value: number, set: (x: number) => void, step = 0.5, key = text) {
    const input = document.createElement('input');
    input.type = 'number';
    input.step = String(step);
    input.value = String(value);
    input.onchange = () => {
      const x = Number(input.value);
      if (Number.isFinite(x) && Math.abs(x) < 1e5) set(x);
      else input.value = String(value);
    };
    this.label(into, text, input, key);
  }
  private text(into: HTMLElement, text: string, value: string, set: (x: string) => void) {
    const input = document.createElement('input');
    input.type = 'text';
    input.value = value;
    input.maxLength = 60;
    input.onchange = () => set(input.value);
    this.label(into, text, input, text);
  }
  private choice(into: HTMLElement, text: string, options: [string, string][], value: string, set: (x: string) => void, id = '') {
    const select = document.createElement('select');
    if (id) select.id = id;
    select.append(...options.map(([v, t]) => new Option(t, v)));
    select.value = value;
    select.onchange = () => set(select.value);
    this.label(into, text, select, text);
  }
  private buttons(into: HTMLElement, list: [string, () => void, string?][]) {
    const row = document.createElement('div');
    row.className = 'row';
    for (const [text, act, id] of list) {
      const b = document.createElement('button');
      b.textContent = text;
      b.dataset.key = text;
      if (id) b.id = id;
      if (id === 'garment-drape') b.className = 'primary';
      b.onclick = act;
      row.append(b);
    }
    into.append(row);
  }
  private hint(into: HTMLElement, text: string) {
    const p = document.createElement('p');
    p.className = 'hint';
    p.textContent = text;
    into.append(p);
  }

  // --- what is chosen ------------------------------------------------------------------------------------

  private chosen() {
    const s = this.parts.sheet.selection;
    const { pattern } = this.parts.store;
    const panel = 'panel' in s ? pattern.panels.find((p) => p.name === s.panel) : undefined;
    if (s.kind === 'seam' && pattern.seams[s.seam]) return this.seam(s.seam);
    if (!panel) {
      const box = this.section('Pattern');
      this.text(box, 'Name', pattern.name, (x) => this.parts.store.change((p) => (p.name = x)));
      this.hint(box, pattern.panels.length ? `${pattern.panels.length} panels, ${pattern.seams.length} seams. Click one to change it.` : 'Draw a panel, drop a pattern, or start with the skirt.');
      return;
    }
    if (s.kind === 'edge' && panel.edges[s.edge]) this.edge(panel, s.edge);
    if (s.kind === 'corner') this.corner(panel, s.edge);
    if (s.kind === 'dart' && panel.darts[s.dart]) this.dart(panel, s.dart);
    if (s.kind === 'line' && panel.lines[s.line]) this.line(panel, s.line);
    this.panel(panel);
  }

  private change(panel: Panel, edit: (p: Panel) => void) {
    this.parts.store.change((pattern) => edit(panelOf(pattern, panel.name)));
  }

  private panel(panel: Panel) {
    const box = this.section('Panel');
    const { store, select } = this.parts;
    this.text(box, 'Name', panel.name, (x) => {
      let name = panel.name;
      store.change((p) => (name = rename(p, panel.name, x)));
      select({ kind: 'panel', panel: name });
    });
    this.hint(box, `${(1e4 * Math.abs(area(panel))).toFixed(0)} cm², around ${cm(panel.edges.reduce((sum, _, e) => sum + edgeLength(panel, e), 0))} cm${area(panel) < 0 ? ', wrong side up' : ''}`);
    this.buttons(box, [
      ['Copy', () => { let name = ''; store.change((p) => (name = duplicate(p, panel.name).name)); select({ kind: 'panel', panel: name }); }, 'panel-copy'],
      ['Mirror', () => store.change((p) => mirror(p, panel.name)), 'panel-mirror'],
      ['Delete', () => { store.change((p) => removePanel(p, panel.name)); select({ kind: 'none' }); }, 'panel-delete'],
    ]);
    const place = this.section('Place around the body');
    this.choice(place, 'Put', Object.entries(spots), '', (x) => x && this.parts.place(panel.name, x as Spot), 'panel-spot');
    const p = panel.placement ?? { origin: [0, 0, 0] as Vec3, rotation: [0, 0, 0] as Vec3, bend: 0 };
    const set = (edit: (q: typeof p) => void) => this.change(panel, (k) => {
      const next = JSON.parse(JSON.stringify(p)) as typeof p;
      edit(next);
      if (next.bend && !p.bend) centre(k);
      k.placement = next;
    });
    ['x', 'y', 'z'].forEach((axis, i) => this.number(place, `${axis} [cm]`, cm(p.origin[i]), (x) => set((q) => (q.origin[i] = x / 100)), 1));
    ['x', 'y', 'z'].forEach((axis, i) => this.number(place, `turn about ${axis} [°]`, +p.rotation[i].toFixed(1), (x) => set((q) => (q.rotation[i] = x)), 5));
    this.number(place, 'bend [cm], 0: flat', p.bend ? +(100 / p.bend).toFixed(1) : 0, (x) => set((q) => (q.bend = x ? 100 / x : 0)), 1, 'bend');
    this.hint(place, 'Or drag the panel beside the body; with shift it turns.');
  }

  private edge(panel: Panel, e: number) {
    const box = this.section(`Edge ${e} of ${panel.name}`);
    const edge = panel.edges[e];
    this.hint(box, `${cm(edgeLength(panel, e))} cm`);
    this.text(box, 'Label', edge.label ?? '', (x) => this.change(panel, (k) => (k.edges[e].label = x || undefined)));
    const piece = edge.pieces[0];
    const kind = edge.pieces.length > 1 ? 'several' : isStraight(piece) ? 'line' : piece.bulge ? 'arc' : 'curve';
    const kinds: [string, string][] = [['line', 'line'], ['arc', 'arc'], ['curve', 'curve']];
    if (kind === 'several') kinds.unshift(['several', 'several pieces']);
    this.choice(box, 'Shape', kinds, kind, (x) => x !== 'several' && this.change(panel, (k) => shapeEdge(k, e, x as 'line')), 'edge-shape');
    const { store } = this.parts;
    this.buttons(box, [
      ['Corner in the middle', () => store.change((p) => splitEdge(p, panelOf(p, panel.name), e, edgePoint(panel, e, 0.5)))],
      ...(kind === 'line' ? [['Unfold here', () => store.change((p) => unfold(p, panelOf(p, panel.name), e))] as [string, () => void]] : []),
    ]);
  }

  private corner(panel: Panel, e: number) {
    const box = this.section(`Corner ${e} of ${panel.name}`);
    if (panel.edges.length > 3) this.buttons(box, [['Delete corner', () => { this.parts.store.change((p) => removeCorner(p, panelOf(p, panel.name), e)); this.parts.select({ kind: 'panel', panel: panel.name }); }]]);
  }

  private dart(panel: Panel, d: number) {
    const dart = panel.darts[d];
    const length = edgeLength(panel, dart.edge);
    const box = this.section(`Dart of ${panel.name}`);
    this.number(box, 'width [cm]', cm((dart.to - dart.from) * length), (x) => this.change(panel, (k) => {
      const [middle, half] = [(dart.from + dart.to) / 2, Math.max(0.002, x / 200) / length];
      Object.assign(k.darts[d], { from: Math.max(0.001, middle - half), to: Math.min(0.999, middle + half) });
    }), 0.5, 'dart-width');
    this.buttons(box, [['Delete dart', () => { this.change(panel, (k) => k.darts.splice(d, 1)); this.parts.select({ kind: 'panel', panel: panel.name }); }]]);
  }

  private line(panel: Panel, l: number) {
    const line = panel.lines[l];
    const box = this.section(`Line of ${panel.name}`);
    this.choice(box, 'Kind', lineKinds.map((k) => [k, k]), line.kind, (x) => this.change(panel, (k) => (k.lines[l].kind = x as typeof line.kind)));
    if (line.kind === 'fold') this.number(box, 'angle [°]', line.angle ?? 0, (x) => this.change(panel, (k) => (k.lines[l].angle = Math.max(-180, Math.min(180, x)))), 5, 'angle');
    this.buttons(box, [['Delete line', () => { this.change(panel, (k) => k.lines.splice(l, 1)); this.parts.select({ kind: 'panel', panel: panel.name }); }]]);
  }

  // --- seams ---------------------------------------------------------------------------------------------

  private mismatch(i: number): string {
    const { pattern } = this.parts.store;
    const [a, b] = pattern.seams[i].sides.map((k) => sideLength(pattern, k));
    const off = b / a - 1;
    return `${cm(a)} | ${cm(b)} cm${Math.abs(off) > 0.002 ? `, ${off > 0 ? '+' : '−'}${Math.abs(100 * off).toFixed(1)} %` : ''}`;
  }

  private seam(i: number) {
    const { store, select } = this.parts;
    const seam = store.pattern.seams[i];
    const box = this.section(`Seam ${i + 1}`);
    this.hint(box, `${seam.sides.map((k) => `${k.panel}, edge ${k.edge}${k.count > 1 ? ` to ${k.edge + k.count - 1}` : ''}`).join(' with ')}: ${this.mismatch(i)}`);
    this.text(box, 'Label', seam.label ?? '', (x) => store.change((p) => (p.seams[i].label = x || undefined)));
    this.buttons(box, [
      ['Other way round', () => store.change((p) => turnSeam(p.seams[i]))],
      ['Delete seam', () => { store.change((p) => p.seams.splice(i, 1)); select({ kind: 'none' }); }],
    ]);
  }

  private seams() {
    const { pattern } = this.parts.store;
    if (pattern.seams.length === 0) return;
    const box = this.section('Seams');
    const list = document.createElement('div');
    list.className = 'seams';
    pattern.seams.forEach((seam, i) => {
      const b = document.createElement('button');
      b.dataset.key = `seam ${i}`;
      b.innerHTML = '<i></i><span></span><small></small>';
      b.querySelector('i')!.style.background = seamColours[i % seamColours.length];
      b.querySelector('span')!.textContent = `${i + 1}  ${seam.label || seam.sides.map((k) => k.panel).join(' – ')}`;
      b.querySelector('small')!.textContent = this.mismatch(i);
      b.onclick = () => this.parts.select({ kind: 'seam', seam: i });
      list.append(b);
    });
    box.append(list);
  }

  // --- garment and backdrop ------------------------------------------------------------------------------

  private garment() {
    const { store, host } = this.parts;
    const { pattern } = store;
    const box = this.section('Drape');
    this.choice(box, 'Body', Object.entries(bodies).map(([k, b]) => [k, b.title]), pattern.body, (x) => store.change((p) => (p.body = x)), 'garment-body');
    this.choice(box, 'Fabric', host.fabrics.map((f) => [f.name, f.name]), pattern.fabric, (x) => store.change((p) => (p.fabric = x)), 'garment-fabric');
    const check = document.createElement('input');
    check.type = 'checkbox';
    check.checked = pattern.hold;
    check.onchange = () => store.change((p) => (p.hold = check.checked));
    this.label(box, 'Hold its waistband', check, 'hold');
    this.buttons(box, [['Sew and drape', () => this.parts.drape(), 'garment-drape'], ['Back to the panels', () => this.parts.arrange(), 'garment-arrange']]);
  }

  private backdrop() {
    const b = this.parts.sheet.backdrop;
    if (!b) return;
    const box = this.section('Picture to trace');
    const set = (edit: () => void) => () => { edit(); this.parts.setBackdrop(); };
    this.number(box, 'width [cm]', cm(b.width), (x) => set(() => (b.width = Math.max(1, x) / 100))(), 1, 'picture width');
    this.number(box, 'left [cm]', cm(b.at[0]), (x) => set(() => (b.at[0] = x / 100))(), 1);
    this.number(box, 'top [cm]', cm(b.at[1]), (x) => set(() => (b.at[1] = x / 100))(), 1);
    this.number(box, 'opacity [%]', Math.round(100 * b.shade), (x) => set(() => (b.shade = Math.min(1, Math.max(0.05, x / 100))))(), 5);
    this.buttons(box, [['Remove picture', () => { this.parts.sheet.setBackdrop(null); this.parts.setBackdrop(); }]]);
  }
}
