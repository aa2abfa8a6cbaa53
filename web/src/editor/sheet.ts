// The sheet: panels as SVG, with grid, backdrop, seams in matching colours and the handles of what is chosen. Draws what it is given and says what is
// under a point; tools.ts decides what to do with it.

import { add, distance, mix, sub } from './curve';
import type { Point } from './curve';
import type { Backdrop } from './image';
import { corner, edgeLine, edgePoint, outline, sideLength, sidePoint } from './model';
import type { Panel, Pattern, Seam } from './model';

export type Selection =
  | { kind: 'none' }
  | { kind: 'panel'; panel: string }
  | { kind: 'edge'; panel: string; edge: number }
  | { kind: 'corner'; panel: string; edge: number }
  | { kind: 'seam'; seam: number }
  | { kind: 'dart'; panel: string; dart: number }
  | { kind: 'line'; panel: string; line: number };

/** What can be taken hold of. */
export type Hit =
  | { kind: 'sheet' }
  | { kind: 'panel'; panel: string }
  | { kind: 'edge'; panel: string; edge: number }
  | { kind: 'corner'; panel: string; edge: number }
  | { kind: 'joint'; panel: string; edge: number; piece: number }
  | { kind: 'control'; panel: string; edge: number; piece: number; control: number }
  | { kind: 'arc'; panel: string; edge: number; piece: number }
  | { kind: 'apex'; panel: string; dart: number }
  | { kind: 'mouth'; panel: string; dart: number; end: 0 | 1 }
  | { kind: 'line'; panel: string; line: number };

export const seamColours = ['#d1493b', '#2f8f4d', '#8a5bd0', '#c98a00', '#00869c', '#c2408f', '#6b7a1f', '#3b6fd1'];
const NS = 'http://www.w3.org/2000/svg';

export class Sheet {
  readonly svg: SVGSVGElement;
  scale = 600; // pixels a metre
  middle: Point = [0, 0]; // of the sheet, in the middle of the picture
  selection: Selection = { kind: 'none' };
  pending: Point[] = []; // of the outline or line that is being drawn
  pointer: Point | null = null;
  picked: { panel: string; edge: number } | null = null; // first edge of a seam to be
  backdrop: Backdrop | null = null;
  private backdropUrl = '';
  private pattern: Pattern | null = null;

  constructor(private host: HTMLElement) {
    this.svg = document.createElementNS(NS, 'svg');
    this.svg.setAttribute('role', 'application');
    this.svg.setAttribute('tabindex', '0');
    this.svg.setAttribute('aria-label', 'Sheet with the panels of the pattern');
    host.append(this.svg);
    new ResizeObserver(() => this.draw()).observe(host);
  }

  setBackdrop(backdrop: Backdrop | null) {
    if (this.backdropUrl) URL.revokeObjectURL(this.backdropUrl);
    this.backdrop = backdrop;
    this.backdropUrl = backdrop ? URL.createObjectURL(backdrop.image) : '';
    this.draw();
  }

  private get size(): Point {
    return [this.host.clientWidth || 1, this.host.clientHeight || 1];
  }
  toScreen(p: Point): Point {
    const [w, h] = this.size;
    return [w / 2 + (p[0] - this.middle[0]) * this.scale, h / 2 - (p[1] - this.middle[1]) * this.scale];
  }
  /** The point of the sheet under a place in the window. */
  fromClient(x: number, y: number): Point {
    const r = this.svg.getBoundingClientRect();
    return [this.middle[0] + (x - r.left - r.width / 2) / this.scale, this.middle[1] - (y - r.top - r.height / 2) / this.scale];
  }

  zoom(factor: number, about: Point) {
    const next = Math.min(8000, Math.max(60, this.scale * factor));
    this.middle = add(about, [(this.middle[0] - about[0]) * (this.scale / next), (this.middle[1] - about[1]) * (this.scale / next)]);
    this.scale = next;
    this.draw();
  }

  showAll() {
    const points = (this.pattern?.panels ?? []).flatMap((p) => outline(p).map((q) => add(p.sheet, q)));
    const [w, h] = this.size;
    if (points.length === 0) {
      this.middle = [0.3, 0.3];
      this.scale = Math.min(w, h) / 1.1;
    } else {
      const low = [0, 1].map((k) => Math.min(...points.map((p) => p[k])));
      const high = [0, 1].map((k) => Math.max(...points.map((p) => p[k])));
      this.middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
      this.scale = 0.86 * Math.min(w / (high[0] - low[0] || 1), h / (high[1] - low[1] || 1));
    }
    this.draw();
  }

  show(pattern: Pattern) {
    this.pattern = pattern;
    this.draw();
  }

  // --- what is where -------------------------------------------------------------------------------------

  /** What is nearest to a point of the sheet, handles of the selection first; `reach` in pixels. */
  hit(p: Point, reach = 9): Hit {
    const near = (q: Point, r = reach) => distance(p, q) * this.scale < r;
    const panels = this.pattern?.panels ?? [];
    const chosen = 'panel' in this.selection ? panels.find((k) => k.name === (this.selection as { panel: string }).panel) : undefined;
    for (const panel of chosen ? [chosen] : []) {
      const at = (q: Point) => add(panel.sheet, q);
      for (const [d, dart] of panel.darts.entries()) {
        if (near(at(dart.apex))) return { kind: 'apex', panel: panel.name, dart: d };
        for (const end of [0, 1] as const)
          if (near(at(edgePoint(panel, dart.edge, end ? dart.to : dart.from)), 7)) return { kind: 'mouth', panel: panel.name, dart: d, end };
      }
      for (let e = 0; e < panel.edges.length; e++) {
        let from = corner(panel, e);
        for (const [i, piece] of panel.edges[e].pieces.entries()) {
          for (const [c, q] of (piece.control ?? []).entries()) if (near(at(q))) return { kind: 'control', panel: panel.name, edge: e, piece: i, control: c };
          if (piece.bulge && near(at(arcMiddle(from, piece.to, piece.bulge)))) return { kind: 'arc', panel: panel.name, edge: e, piece: i };
          if (i < panel.edges[e].pieces.length - 1 && near(at(piece.to), 7)) return { kind: 'joint', panel: panel.name, edge: e, piece: i };
          from = piece.to;
        }
      }
    }
    const order = [...panels].reverse().sort((a, b) => Number(b === chosen) - Number(a === chosen));
    for (const panel of order)
      for (let e = 0; e < panel.edges.length; e++) if (near(add(panel.sheet, corner(panel, e)))) return { kind: 'corner', panel: panel.name, edge: e };
    for (const panel of order) {
      const own = sub(p, panel.sheet);
      for (let e = 0; e < panel.edges.length; e++) if (near(add(panel.sheet, nearestOf(edgeLine(panel, e), own)))) return { kind: 'edge', panel: panel.name, edge: e };
      for (const [l, line] of panel.lines.entries())
        if (near(add(panel.sheet, nearestOf([line.start, ...line.pieces.map((k) => k.to)], own)))) return { kind: 'line', panel: panel.name, line: l };
    }
    for (const panel of order) if (inside(outline(panel), sub(p, panel.sheet))) return { kind: 'panel', panel: panel.name };
    return { kind: 'sheet' };
  }

  // --- drawing -------------------------------------------------------------------------------------------

  private el(name: string, attributes: Record<string, string | number>, into: Element, text = '') {
    const e = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
    if (text) e.textContent = text;
    into.append(e);
    return e;
  }
  private path(points: Point[], at: Point, closed = false) {
    return points.map((q, i) => `${i ? 'L' : 'M'}${this.toScreen(add(at, q)).map((x) => x.toFixed(1)).join(' ')}`).join('') + (closed ? 'Z' : '');
  }
  private dot(p: Point, kind: string, r = 4.5) {
    const [x, y] = this.toScreen(p);
    this.el('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r, class: kind }, this.svg);
  }

  draw() {
    if (!this.pattern) return;
    const [w, h] = this.size;
    this.svg.replaceChildren();
    this.svg.setAttribute('viewBox', `0 0 ${w} ${h}`);
    this.drawBackdrop();
    this.drawGrid(w, h);
    for (const panel of this.pattern.panels) this.drawPanel(panel);
    this.pattern.seams.forEach((seam, i) => this.drawSeam(seam, i));
    this.drawHandles();
    this.drawPending();
  }

  private drawBackdrop() {
    const b = this.backdrop;
    if (!b) return;
    const [x, y] = this.toScreen(b.at);
    this.el('image', { href: this.backdropUrl, x, y, width: b.width * this.scale, opacity: b.shade, preserveAspectRatio: 'xMinYMin' }, this.svg);
  }

  private drawGrid(w: number, h: number) {
    const every = this.scale > 2500 ? 0.01 : this.scale > 250 ? 0.1 : 1;
    const [left, top] = this.fromLocal(0, 0);
    const [right, bottom] = this.fromLocal(w, h);
    let d = '';
    for (let x = Math.ceil(left / every) * every; x < right; x += every) d += `M${this.toScreen([x, 0])[0].toFixed(1)} 0V${h}`;
    for (let y = Math.ceil(bottom / every) * every; y < top; y += every) d += `M0 ${this.toScreen([0, y])[1].toFixed(1)}H${w}`;
    this.el('path', { d, class: 'grid' }, this.svg);
    const bar = every * this.scale;
    this.el('path', { d: `M12 ${h - 14}h${bar}m0 -4v8m${-bar} -8v8`, class: 'scale' }, this.svg);
    this.el('text', { x: 16, y: h - 20, class: 'note' }, this.svg, `${Math.round(every * 100)} cm`);
  }
  private fromLocal(x: number, y: number): Point {
    const [w, h] = this.size;
    return [this.middle[0] + (x - w / 2) / this.scale, this.middle[1] - (y - h / 2) / this.scale];
  }

  private drawPanel(panel: Panel) {
    const s = this.selection;
    const chosen = 'panel' in s && s.panel === panel.name;
    const face = this.el('path', { d: this.path(outline(panel), panel.sheet, true), class: `panel${chosen ? ' chosen' : ''}`, 'data-panel': panel.name }, this.svg);
    this.el('title', {}, face, panel.name); // where there is no room for it
    for (let e = 0; e < panel.edges.length; e++) {
      const on = (s.kind === 'edge' && chosen && s.edge === e) || (this.picked?.panel === panel.name && this.picked.edge === e);
      this.el('path', { d: this.path(edgeLine(panel, e), panel.sheet), class: `edge${on ? ' on' : ''}`, 'data-edge': `${panel.name}/${e}` }, this.svg);
    }
    for (const [i, line] of panel.lines.entries()) {
      const on = s.kind === 'line' && chosen && s.line === i;
      this.el('path', { d: this.path([line.start, ...line.pieces.map((p) => p.to)], panel.sheet), class: `inner ${line.kind}${on ? ' on' : ''}` }, this.svg);
      if (line.kind === 'drill') this.dot(add(panel.sheet, line.start), 'drill', 3);
    }
    for (const dart of panel.darts)
      this.el('path', { d: this.path([edgePoint(panel, dart.edge, dart.from), dart.apex, edgePoint(panel, dart.edge, dart.to)], panel.sheet), class: 'dart' }, this.svg);
    for (const notch of panel.notches) this.dot(add(panel.sheet, edgePoint(panel, notch.edge, notch.at)), 'notch', 2.5);
    this.drawName(panel);
  }

  // The name in the middle, broken where words join, as far as there is room for it.
  private drawName(panel: Panel) {
    const points = outline(panel).map((p) => this.toScreen(add(panel.sheet, p)));
    const [low, high] = [0, 1].map((k) => [Math.min(...points.map((p) => p[k])), Math.max(...points.map((p) => p[k]))]);
    const most = Math.floor((low[1] - low[0] - 36) / 6.6); // letters a line, beside the numbers of seams
    if (most < 5) return;
    const lines: string[] = [];
    for (const word of panel.name.split(/(?<=[_ -])/)) {
      const last = lines.at(-1);
      if (last !== undefined && (last + word).length <= most) lines[lines.length - 1] = last + word;
      else lines.push(word);
    }
    const shown = lines.slice(0, Math.max(1, Math.floor((high[1] - high[0] - 30) / 14)));
    const y = (high[0] + high[1]) / 2 - 7 * (shown.length - 1);
    shown.forEach((line, i) => this.el('text', { x: (low[0] + low[1]) / 2, y: y + 14 * i, class: 'name', 'text-anchor': 'middle' }, this.svg, line.length > most ? `${line.slice(0, most - 1)}…` : line));
  }

  private drawSeam(seam: Seam, index: number) {
    const pattern = this.pattern!;
    const colour = seamColours[index % seamColours.length];
    const on = this.selection.kind === 'seam' && this.selection.seam === index;
    const middles: Point[] = [];
    for (const side of seam.sides) {
      const panel = pattern.panels.find((p) => p.name === side.panel);
      if (!panel) continue;
      const points = Array.from({ length: 33 }, (_, i) => sidePoint(panel, side, i / 32));
      this.el('path', { d: this.path(points, panel.sheet), class: `seam${on ? ' on' : ''}`, stroke: colour }, this.svg);
      const [m, n] = [16, 17].map((i) => this.toScreen(add(panel.sheet, points[i])));
      const turn = (Math.atan2(n[1] - m[1], n[0] - m[0]) * 180) / Math.PI;
      this.el('path', { d: 'M-4 -4L4 0L-4 4', transform: `translate(${m[0]} ${m[1]}) rotate(${turn})`, class: 'way', stroke: colour }, this.svg);
      const length = sideLength(pattern, side);
      const near = 'panel' in this.selection && this.selection.panel === side.panel;
      const long = on || near || (pattern.seams.length < 5 && length * this.scale > 60);
      // lengths not in the middle: those of edges across from each other then stand at different heights
      const [x, y] = long ? this.toScreen(add(panel.sheet, points[side.from < side.to ? 9 : 23])) : m;
      // the number stands inside of the panel, so that those of neighbours do not meet
      const [rx, ry] = [Math.sin((turn * Math.PI) / 180), -Math.cos((turn * Math.PI) / 180)];
      const within = inside(outline(panel), sub(this.fromLocal(x + 5 * rx, y + 5 * ry), panel.sheet)) ? 1 : -1;
      const at = { x: x + 9 * within * rx, y: y + 9 * within * ry + 4, 'text-anchor': within * rx > 0.4 ? 'start' : within * rx < -0.4 ? 'end' : 'middle' };
      if (long)
        this.el('text', { ...at, class: 'length', fill: colour }, this.svg, `${index + 1}: ${(100 * length).toFixed(1)} cm`);
      else if (length * this.scale > 25) this.el('text', { ...at, class: 'length', fill: colour }, this.svg, String(index + 1));
      middles.push(m);
    }
    if (on && middles.length === 2) this.el('path', { d: `M${middles[0].join(' ')}L${middles[1].join(' ')}`, class: 'link', stroke: colour }, this.svg);
  }

  private drawHandles() {
    for (const panel of this.pattern!.panels) {
      const s = this.selection;
      const chosen = 'panel' in s && s.panel === panel.name;
      for (let e = 0; e < panel.edges.length; e++)
        this.dot(add(panel.sheet, corner(panel, e)), `corner${chosen ? ' chosen' : ''}${s.kind === 'corner' && chosen && s.edge === e ? ' on' : ''}`, chosen ? 5 : 3);
      if (!chosen) continue;
      for (let e = 0; e < panel.edges.length; e++) {
        let from = corner(panel, e);
        for (const [i, piece] of panel.edges[e].pieces.entries()) {
          const ends = [from, piece.to];
          for (const [c, q] of (piece.control ?? []).entries()) {
            const tie = piece.control!.length === 1 ? [ends[0], q, ends[1]] : [ends[c], q];
            this.el('path', { d: this.path(tie as Point[], panel.sheet), class: 'tie' }, this.svg);
            this.dot(add(panel.sheet, q), 'control');
          }
          if (piece.bulge) this.dot(add(panel.sheet, arcMiddle(from, piece.to, piece.bulge)), 'control');
          if (i < panel.edges[e].pieces.length - 1) this.dot(add(panel.sheet, piece.to), 'joint', 3.5);
          from = piece.to;
        }
      }
      for (const dart of panel.darts) this.dot(add(panel.sheet, dart.apex), 'control');
    }
  }

  private drawPending() {
    if (this.pending.length === 0) return;
    const line = this.pointer ? [...this.pending, this.pointer] : this.pending;
    this.el('path', { d: this.path(line, [0, 0]), class: 'pending' }, this.svg);
    for (const p of this.pending) this.dot(p, 'control');
    if (!this.pointer) return;
    const last = this.pending.at(-1)!;
    const [x, y] = this.toScreen(mix(last, this.pointer, 0.5));
    this.el('text', { x: x + 8, y: y - 8, class: 'length' }, this.svg, `${(100 * distance(last, this.pointer)).toFixed(1)} cm`);
  }
}

/** The top of an arc. */
export function arcMiddle(from: Point, to: Point, bulge: number): Point {
  const d = sub(to, from);
  return add(mix(from, to, 0.5), [(bulge / 2) * d[1], (-bulge / 2) * d[0]]);
}

function nearestOf(line: Point[], p: Point): Point {
  let best: Point = line[0];
  for (let i = 0; i + 1 < line.length; i++) {
    const [a, b] = [line[i], line[i + 1]];
    const d = sub(b, a);
    const s = Math.min(1, Math.max(0, ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1] || 1)));
    const q = mix(a, b, s);
    if (distance(p, q) < distance(p, best)) best = q;
  }
  return best;
}

export function inside(polygon: Point[], p: Point): boolean {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [a, b] = [polygon[i], polygon[j]];
    if (a[1] > p[1] !== b[1] > p[1] && p[0] < ((b[0] - a[0]) * (p[1] - a[1])) / (b[1] - a[1]) + a[0]) odd = !odd;
  }
  return odd;
}
