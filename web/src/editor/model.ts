// A sewing pattern as the editor holds it, and as our JSON files say it (docs/patterns.md).
//
// Coordinates of a panel are its own; `sheet` says where it is drawn, which files do not know. Everything else that the format has is kept, so that
// opening and saving loses nothing.

import { add, flatten, lengthOf, pointAt } from './curve';
import type { Piece, Point } from './curve';

export type Edge = { label?: string; pieces: Piece[] };
export const lineKinds = ['internal', 'fold', 'hole', 'cut', 'drill'] as const;
export type Line = { kind: (typeof lineKinds)[number]; label?: string; angle?: number; start: Point; pieces: Piece[] };
export type Dart = { label?: string; edge: number; from: number; to: number; apex: Point };
export type Notch = { edge: number; at: number; depth?: number };
export type Vec3 = [number, number, number];
export type Placement = { origin: Vec3; rotation: Vec3; bend: number };
export type Panel = {
  name: string; label?: string; layer?: number; start: Point; edges: Edge[]; lines: Line[]; notches: Notch[]; darts: Dart[];
  grain?: [Point, Point]; placement?: Placement; sheet: Point;
};
export type Side = { panel: string; edge: number; count: number; from: number; to: number };
export type Seam = { label?: string; sides: [Side, Side]; turned?: boolean };
export type Pattern = {
  name: string; measures: unknown[]; panels: Panel[]; seams: Seam[];
  fabric: string; body: string; hold: boolean; // how it is draped; files do not know these
};

export const empty = (): Pattern => ({ name: 'garment', measures: [], panels: [], seams: [], fabric: 'cotton', body: 'woman', hold: true });

/** Where edge `e` starts; e may be the number of edges. */
export function corner(panel: Panel, e: number): Point {
  return e <= 0 ? panel.start : panel.edges[Math.min(e, panel.edges.length) - 1].pieces.at(-1)!.to;
}

export function edgeLength(panel: Panel, e: number): number {
  let from = corner(panel, e);
  let sum = 0;
  for (const piece of panel.edges[e].pieces) (sum += lengthOf(from, piece)), (from = piece.to);
  return sum;
}

/** The point at a fraction of an edge's length. */
export function edgePoint(panel: Panel, e: number, fraction: number): Point {
  let from = corner(panel, e);
  let left = fraction * edgeLength(panel, e);
  const pieces = panel.edges[e].pieces;
  for (let i = 0; i < pieces.length; i++) {
    const own = lengthOf(from, pieces[i]);
    if (left <= own || i === pieces.length - 1) {
      let [low, high] = [0, 1];
      for (let k = 0; k < 40; k++) {
        const t = (low + high) / 2;
        if (lengthOf(from, pieces[i], t) < left) low = t;
        else high = t;
      }
      return pointAt(from, pieces[i], left <= 0 ? 0 : left >= own ? 1 : high);
    }
    left -= own;
    from = pieces[i].to;
  }
  return from;
}

/** An edge as a line of points, its start included. */
export function edgeLine(panel: Panel, e: number): Point[] {
  const line: Point[] = [corner(panel, e)];
  for (const piece of panel.edges[e].pieces) line.push(...flatten(line.at(-1)!, piece));
  return line;
}

export const outline = (panel: Panel): Point[] => panel.edges.flatMap((_, e) => edgeLine(panel, e).slice(1));

/** > 0: counter-clockwise [m^2]. */
export function area(panel: Panel): number {
  const p = outline(panel);
  return p.reduce((sum, a, i) => sum + (a[0] * p[(i + 1) % p.length][1] - a[1] * p[(i + 1) % p.length][0]) / 2, 0);
}

export function box(panel: Panel): { low: Point; high: Point } {
  const p = outline(panel);
  const of = (k: number, f: (...x: number[]) => number) => f(...p.map((q) => q[k]));
  return { low: [of(0, Math.min), of(1, Math.min)], high: [of(0, Math.max), of(1, Math.max)] };
}

const sideEdges = (panel: Panel, side: Side) => Array.from({ length: side.count }, (_, i) => (side.edge + i) % panel.edges.length);

export function sideLength(pattern: Pattern, side: Side): number {
  const panel = pattern.panels.find((p) => p.name === side.panel);
  if (!panel) return 0;
  return Math.abs(side.to - side.from) * sideEdges(panel, side).reduce((sum, e) => sum + edgeLength(panel, e), 0);
}

/** The point at a fraction of a seam side's way, in the panel's plane. */
export function sidePoint(panel: Panel, side: Side, fraction: number): Point {
  const edges = sideEdges(panel, side);
  const lengths = edges.map((e) => edgeLength(panel, e));
  let at = (side.from + fraction * (side.to - side.from)) * lengths.reduce((a, b) => a + b, 0);
  for (let i = 0; i < edges.length; i++) {
    if (at <= lengths[i] || i === edges.length - 1) return edgePoint(panel, edges[i], Math.min(1, Math.max(0, at / lengths[i])));
    at -= lengths[i];
  }
  return corner(panel, side.edge);
}

/** Where a point of a panel starts in space (tl_placement_point). */
export function inSpace(panel: Panel, p: Point): Vec3 {
  const { origin, rotation, bend } = panel.placement ?? { origin: [0, 0, 0], rotation: [0, 0, 0], bend: 0 };
  const [a, b, c] = rotation.map((d) => (d * Math.PI) / 180);
  const q: Vec3 = bend ? [Math.sin(bend * p[0]) / bend, p[1], (Math.cos(bend * p[0]) - 1) / bend] : [p[0], p[1], 0];
  const x: Vec3 = [q[0], Math.cos(a) * q[1] - Math.sin(a) * q[2], Math.sin(a) * q[1] + Math.cos(a) * q[2]];
  const y: Vec3 = [Math.cos(b) * x[0] + Math.sin(b) * x[2], x[1], -Math.sin(b) * x[0] + Math.cos(b) * x[2]];
  return [Math.cos(c) * y[0] - Math.sin(c) * y[1] + origin[0], Math.sin(c) * y[0] + Math.cos(c) * y[1] + origin[1], y[2] + origin[2]];
}

export function freeName(pattern: Pattern, wanted: string): string {
  const taken = new Set(pattern.panels.map((p) => p.name));
  const stem = wanted.replace(/ \d+$/, '') || 'panel';
  if (!taken.has(wanted) && wanted) return wanted;
  for (let i = 2; ; i++) if (!taken.has(`${stem} ${i}`)) return `${stem} ${i}`;
}

// --- files -----------------------------------------------------------------------------------------------

const round = (x: number) => Math.round(x * 1e9) / 1e9 + 0;
const numbers = (p: number[]) => p.map(round);

function pieceOut(p: Piece) {
  return { to: numbers(p.to), ...(p.bulge ? { bulge: round(p.bulge) } : {}), ...(p.control?.length ? { control: p.control.map(numbers) } : {}) };
}

const label = (x: { label?: string }) => (x.label ? { label: x.label } : {});

/** The pattern in the format toile-pattern-1. */
export function toFile(pattern: Pattern): string {
  const panels = pattern.panels.map((p) => ({
    name: p.name, ...label(p), ...(p.layer ? { layer: p.layer } : {}),
    ...(p.placement ? { placement: { origin: numbers(p.placement.origin), rotation: numbers(p.placement.rotation), ...(p.placement.bend ? { bend: round(p.placement.bend) } : {}) } } : {}),
    ...(p.grain ? { grain: p.grain.map(numbers) } : {}),
    start: numbers(p.start),
    edges: p.edges.map((e) => ({ ...label(e), ...(e.pieces.length === 1 ? pieceOut(e.pieces[0]) : { path: e.pieces.map(pieceOut) }) })),
    ...(p.lines.length ? { lines: p.lines.map((l) => ({ kind: l.kind, ...label(l), ...(l.angle ? { angle: l.angle } : {}), start: numbers(l.start), ...(l.pieces.length ? { path: l.pieces.map(pieceOut) } : {}) })) } : {}),
    ...(p.notches.length ? { notches: p.notches } : {}),
    ...(p.darts.length ? { darts: p.darts.map((d) => ({ ...label(d), edge: d.edge, from: round(d.from), to: round(d.to), apex: numbers(d.apex) })) } : {}),
  }));
  const seams = pattern.seams.map((s) => ({
    ...label(s),
    sides: s.sides.map((k) => ({ panel: k.panel, edge: k.edge, ...(k.count !== 1 ? { count: k.count } : {}), ...(k.from !== 0 ? { from: round(k.from) } : {}), ...(k.to !== 1 ? { to: round(k.to) } : {}) })),
    ...(s.turned ? { turned: true } : {}),
  }));
  return JSON.stringify({
    format: 'toile-pattern-1', ...(pattern.name ? { name: pattern.name } : {}), ...(pattern.measures.length ? { measures: pattern.measures } : {}),
    panels, ...(seams.length ? { seams } : {}),
  }, null, 1);
}

type Raw = Record<string, any>;

/** A file as the simulator's own reader writes it again: checked, arcs by bulge. Panels are laid out side by side. */
export function fromFile(text: string): Pattern {
  const raw = JSON.parse(text) as Raw;
  const piece = (p: Raw): Piece => ({ to: p.to, ...(p.bulge ? { bulge: p.bulge } : {}), ...(p.control ? { control: p.control } : {}) });
  const panels: Panel[] = raw.panels.map((p: Raw) => ({
    name: p.name, label: p.label, layer: p.layer, start: p.start, sheet: [0, 0] as Point, grain: p.grain,
    placement: p.placement ? { origin: p.placement.origin ?? [0, 0, 0], rotation: p.placement.rotation ?? [0, 0, 0], bend: p.placement.bend ?? 0 } : undefined,
    edges: p.edges.map((e: Raw) => ({ label: e.label, pieces: (e.path ?? [e]).map(piece) })),
    lines: (p.lines ?? []).map((l: Raw) => ({ kind: l.kind ?? 'internal', label: l.label, angle: l.angle, start: l.start, pieces: (l.path ?? []).map(piece) })),
    notches: p.notches ?? [], darts: p.darts ?? [],
  }));
  const seams = (raw.seams ?? []).map((s: Raw) => ({
    label: s.label, turned: s.turned,
    sides: s.sides.map((k: Raw) => ({ panel: k.panel, edge: k.edge, count: k.count ?? 1, from: k.from ?? 0, to: k.to ?? 1 })),
  }));
  const pattern: Pattern = { ...empty(), name: raw.name ?? 'pattern', measures: raw.measures ?? [], panels, seams };
  layOut(pattern);
  return pattern;
}

/** Panels in rows of about equal width. */
export function layOut(pattern: Pattern) {
  const boxes = pattern.panels.map(box);
  const total = boxes.reduce((s, b) => s + (b.high[0] - b.low[0] + 0.08) * (b.high[1] - b.low[1] + 0.08), 0);
  const width = 1.5 * Math.sqrt(total);
  let [x, y, tall] = [0, 0, 0];
  pattern.panels.forEach((p, i) => {
    const { low, high } = boxes[i];
    if (x > 0 && x + high[0] - low[0] > width) (y -= tall + 0.08), (x = 0), (tall = 0);
    p.sheet = [x - low[0], y - high[1]];
    x += high[0] - low[0] + 0.08;
    tall = Math.max(tall, high[1] - low[1]);
  });
}

/** What is on the sheet where. */
export const onSheet = (panel: Panel, p: Point): Point => add(panel.sheet, p);
