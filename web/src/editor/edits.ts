// What can be done to a pattern. Each function changes the pattern it is given and keeps seams, darts and notches on the edges that they are on.

import { add, distance, mix, moved, nearest, reversed, scale, split, sub } from './curve';
import type { Piece, Point } from './curve';
import { area, box, corner, edgeLength, edgePoint, freeName, inSpace, sidePoint } from './model';
import type { Line, Panel, Pattern, Seam, Side } from './model';

export const panelOf = (pattern: Pattern, name: string) => pattern.panels.find((p) => p.name === name)!;

/** A panel from corners on the sheet; it shows the right side. */
export function addPanel(pattern: Pattern, corners: Point[], name = 'panel'): Panel {
  const low: Point = [Math.min(...corners.map((p) => p[0])), Math.min(...corners.map((p) => p[1]))];
  const high: Point = [Math.max(...corners.map((p) => p[0])), Math.max(...corners.map((p) => p[1]))];
  const middle: Point = [(low[0] + high[0]) / 2, low[1]]; // panels bend about x = 0
  const own = corners.map((p) => sub(p, middle));
  const panel: Panel = {
    name: freeName(pattern, name), start: own[0], sheet: middle, lines: [], notches: [], darts: [],
    edges: own.map((_, i) => ({ pieces: [{ to: own[(i + 1) % own.length] }] })),
  };
  if (area(panel) < 0) {
    own.reverse();
    panel.start = own[0];
    panel.edges = own.map((_, i) => ({ pieces: [{ to: own[(i + 1) % own.length] }] }));
  }
  pattern.panels.push(panel);
  return panel;
}

export function removePanel(pattern: Pattern, name: string) {
  pattern.panels = pattern.panels.filter((p) => p.name !== name);
  pattern.seams = pattern.seams.filter((s) => s.sides.every((k) => k.panel !== name));
}

export function rename(pattern: Pattern, from: string, to: string): string {
  const free = to.trim() === from ? from : freeName(pattern, to.trim().slice(0, 60) || from);
  panelOf(pattern, from).name = free;
  for (const seam of pattern.seams) for (const side of seam.sides) if (side.panel === from) side.panel = free;
  return free;
}

// --- corners and edges -----------------------------------------------------------------------------------

/** Moves the corner where edge `e` starts; curves beside it keep their shape as far as they can. */
export function moveCorner(panel: Panel, e: number, to: Point) {
  const from = corner(panel, e);
  const by = sub(to, from);
  const n = panel.edges.length;
  const before = panel.edges[(e + n - 1) % n].pieces.at(-1)!;
  const after = panel.edges[e % n].pieces[0];
  if (before.control) before.control[before.control.length - 1] = add(before.control.at(-1)!, by);
  if (after.control && (after !== before || after.control.length > 1)) after.control[0] = add(after.control[0], by);
  before.to = to;
  if (e % n === 0) panel.start = to;
}

/** Moves a joint within an edge: the end of its piece `i`. */
export function moveJoint(panel: Panel, e: number, i: number, to: Point) {
  panel.edges[e].pieces[i].to = to;
}

/** An edge becomes a line, a Bezier curve or an arc that starts out bulging a little. */
export function shapeEdge(panel: Panel, e: number, kind: 'line' | 'curve' | 'arc') {
  const from = corner(panel, e);
  const to = corner(panel, e + 1);
  const d = sub(to, from);
  const out: Point = [d[1], -d[0]]; // to the right of the way, which is outside of a counter-clockwise outline
  const bow = (t: number) => add(mix(from, to, t), scale(0.15, out));
  const piece: Piece = kind === 'line' ? { to } : kind === 'arc' ? { to, bulge: 0.25 } : { to, control: [bow(1 / 3), bow(2 / 3)] };
  panel.edges[e].pieces = [piece];
}

/** The bulge that takes an arc from `from` to `to` nearest past `p`: by the height over the chord's middle. */
export function bulgeThrough(from: Point, to: Point, p: Point): number {
  const d = sub(to, from);
  const m = sub(p, mix(from, to, 0.5));
  const height = (m[0] * d[1] - m[1] * d[0]) / (d[0] * d[0] + d[1] * d[1] || 1); // of the chord, to the right
  return Math.max(-3, Math.min(3, 2 * height));
}

/** Where an edge is nearest to a point: fraction of its length, and piece and parameter. */
export function onEdge(panel: Panel, e: number, p: Point) {
  let from = corner(panel, e);
  let best = { distance: Infinity, piece: 0, t: 0, from };
  panel.edges[e].pieces.forEach((piece, i) => {
    const n = nearest(from, piece, p);
    if (n.distance < best.distance) best = { distance: n.distance, piece: i, t: n.t, from };
    from = piece.to;
  });
  return best;
}

/** Cuts edge `e` in two at the point nearest to `p`; what lies on it stays where it is. */
export function splitEdge(pattern: Pattern, panel: Panel, e: number, p: Point) {
  const edge = panel.edges[e];
  const whole = edgeLength(panel, e);
  const at = onEdge(panel, e, p);
  if (at.distance === Infinity || (at.t < 1e-3 && at.piece === 0) || (at.t > 1 - 1e-3 && at.piece === edge.pieces.length - 1)) return;
  const [a, b] = split(at.from, edge.pieces[at.piece], at.t);
  const first = { ...edge, pieces: [...edge.pieces.slice(0, at.piece), a] };
  panel.edges.splice(e, 1, first, { ...edge, pieces: [b, ...edge.pieces.slice(at.piece + 1)] });
  const f = edgeLength(panel, e) / whole;
  for (const seam of pattern.seams)
    for (const side of seam.sides) {
      if (side.panel !== panel.name) continue;
      const n = panel.edges.length - 1; // edges before
      const within = (e - side.edge + n) % n < side.count;
      if (side.edge > e) side.edge++;
      if (within) side.count++;
    }
  panel.darts = panel.darts.flatMap((d) => {
    if (d.edge !== e) return [{ ...d, edge: d.edge + (d.edge > e ? 1 : 0) }];
    if (d.to <= f) return [{ ...d, from: d.from / f, to: d.to / f }];
    return d.from >= f ? [{ ...d, edge: e + 1, from: (d.from - f) / (1 - f), to: (d.to - f) / (1 - f) }] : [];
  });
  panel.notches = panel.notches.map((k) =>
    k.edge !== e ? { ...k, edge: k.edge + (k.edge > e ? 1 : 0) } : k.at <= f ? { ...k, at: k.at / f } : { ...k, edge: e + 1, at: (k.at - f) / (1 - f) });
}

/** Takes the corner where edge `e` starts away: the edges beside it become one line. Seams on one of the two only are undone. */
export function removeCorner(pattern: Pattern, panel: Panel, e: number) {
  const n = panel.edges.length;
  if (n <= 3) return;
  if (e === 0) rotate(pattern, panel, 1), (e = n - 1);
  const before = e - 1;
  panel.edges.splice(before, 2, { pieces: [{ to: corner(panel, e + 1) }] });
  if (panel.edges.length === before + 1) panel.edges[before].pieces[0].to = panel.start;
  pattern.seams = pattern.seams.filter((seam) => seam.sides.every((side) => {
    if (side.panel !== panel.name) return true;
    const has = (k: number) => (k - side.edge + n) % n < side.count;
    return has(before) === has(e);
  }));
  for (const seam of pattern.seams)
    for (const side of seam.sides) {
      if (side.panel !== panel.name) continue;
      if ((before - side.edge + n) % n < side.count) side.count--;
      if (side.edge > before) side.edge--;
    }
  const keep = <T extends { edge: number }>(list: T[]) => list.filter((d) => d.edge !== before && d.edge !== e).map((d) => ({ ...d, edge: d.edge - (d.edge > e ? 1 : 0) }));
  panel.darts = keep(panel.darts);
  panel.notches = keep(panel.notches);
}

// Counts the edges from another one on.
function rotate(pattern: Pattern, panel: Panel, by: number) {
  const n = panel.edges.length;
  panel.start = corner(panel, by);
  panel.edges = [...panel.edges.slice(by), ...panel.edges.slice(0, by)];
  const to = (e: number) => (e - by + n) % n;
  for (const d of [...panel.darts, ...panel.notches]) d.edge = to(d.edge);
  for (const seam of pattern.seams) for (const side of seam.sides) if (side.panel === panel.name) side.edge = to(side.edge);
}

// --- panels as a whole -----------------------------------------------------------------------------------

/** A copy beside the panel; seams are not copied. */
export function duplicate(pattern: Pattern, name: string): Panel {
  const from = panelOf(pattern, name);
  const copy: Panel = JSON.parse(JSON.stringify(from));
  const { low, high } = box(from);
  copy.name = freeName(pattern, name);
  copy.sheet = add(from.sheet, [high[0] - low[0] + 0.08, 0]);
  pattern.panels.push(copy);
  return copy;
}

/** Turns a panel over: left and right change places, edges are counted the other way so that it shows the same side. */
export function mirror(pattern: Pattern, name: string) {
  const panel = panelOf(pattern, name);
  const flip = (p: Point): Point => [-p[0], p[1]];
  const n = panel.edges.length;
  const { low, high } = box(panel);
  const way = (from: Point, pieces: Piece[]) => reversed(from, pieces).map((p) => moved(p, flip, true));
  const starts = panel.edges.map((_, e) => corner(panel, e));
  panel.edges = panel.edges.map((edge, e) => ({ ...edge, pieces: way(starts[e], edge.pieces) })).reverse();
  panel.start = flip(panel.start);
  panel.sheet = add(panel.sheet, [low[0] + high[0], 0]); // stays in its place
  panel.lines = panel.lines.map((l): Line => ({ ...l, start: flip(l.start), pieces: l.pieces.map((p) => moved(p, flip, true)) }));
  panel.grain = panel.grain?.map(flip) as [Point, Point] | undefined;
  panel.darts = panel.darts.map((d) => ({ ...d, edge: n - 1 - d.edge, from: 1 - d.to, to: 1 - d.from, apex: flip(d.apex) }));
  panel.notches = panel.notches.map((k) => ({ ...k, edge: n - 1 - k.edge, at: 1 - k.at }));
  for (const seam of pattern.seams)
    for (const side of seam.sides)
      if (side.panel === name) Object.assign(side, { edge: (2 * n - side.edge - side.count) % n, from: 1 - side.from, to: 1 - side.to });
}

/** Half a panel becomes a whole one: what is there and its mirror image across the straight edge `e`. */
export function unfold(pattern: Pattern, panel: Panel, e: number) {
  rotate(pattern, panel, (e + 1) % panel.edges.length); // the fold is the last edge now
  const a = panel.start;
  const b = corner(panel, panel.edges.length - 1);
  const d = scale(1 / (distance(a, b) || 1), sub(b, a));
  const across = (p: Point): Point => {
    const v = sub(p, a);
    const along = v[0] * d[0] + v[1] * d[1];
    return sub(add(a, scale(2 * along, d)), v);
  };
  const half = panel.edges.slice(0, -1);
  const n = half.length;
  const starts = half.map((_, i) => corner(panel, i));
  const other = half.map((edge, i) => ({ ...edge, pieces: reversed(starts[i], edge.pieces).map((p) => moved(p, across, true)) })).reverse();
  panel.edges = [...half, ...other];
  panel.lines = [...panel.lines, ...panel.lines.map((l) => ({ ...l, start: across(l.start), pieces: l.pieces.map((p) => moved(p, across, true)) }))];
  panel.darts = panel.darts.filter((k) => k.edge < n);
  panel.darts.push(...panel.darts.map((k) => ({ ...k, edge: 2 * n - 1 - k.edge, from: 1 - k.to, to: 1 - k.from, apex: across(k.apex) })));
  panel.notches = panel.notches.filter((k) => k.edge < n);
  panel.notches.push(...panel.notches.map((k) => ({ ...k, edge: 2 * n - 1 - k.edge, at: 1 - k.at })));
  pattern.seams = pattern.seams.filter((s) => s.sides.every((k) => k.panel !== panel.name || k.edge + k.count <= n));
  centre(panel);
}

/** Shifts a panel's own coordinates so that it bends about its middle; on the sheet and in space it stays. */
export function centre(panel: Panel) {
  const { low, high } = box(panel);
  const by: Point = [-(low[0] + high[0]) / 2, 0];
  if (Math.abs(by[0]) < 1e-9) return;
  if (panel.placement && !panel.placement.bend) panel.placement.origin = inSpace(panel, scale(-1, by));
  const shift = (p: Point) => add(p, by);
  panel.start = shift(panel.start);
  for (const edge of panel.edges) edge.pieces = edge.pieces.map((p) => moved(p, shift));
  for (const line of panel.lines) (line.start = shift(line.start)), (line.pieces = line.pieces.map((p) => moved(p, shift)));
  for (const dart of panel.darts) dart.apex = shift(dart.apex);
  if (panel.grain) panel.grain = panel.grain.map(shift) as [Point, Point];
  panel.sheet = sub(panel.sheet, by);
}

// --- seams, darts, lines ---------------------------------------------------------------------------------

export const sewn = (pattern: Pattern, panel: string, edge: number): Seam | undefined =>
  pattern.seams.find((s) => s.sides.some((k) => k.panel === panel && (edge - k.edge + 1000) % (pattern.panels.find((p) => p.name === panel)?.edges.length ?? 1) < k.count));

/** Sews edge to edge. The second runs against the first, unless panels are placed and their ends are nearer the same way. */
export function addSeam(pattern: Pattern, a: { panel: string; edge: number }, b: { panel: string; edge: number }): string {
  if (a.panel === b.panel && a.edge === b.edge) return 'An edge cannot be sewn to itself.';
  for (const k of [a, b]) if (sewn(pattern, k.panel, k.edge)) return `Edge ${k.edge} of ${k.panel} is sewn already; remove that seam first.`;
  const side = (k: { panel: string; edge: number }, turned: boolean): Side => ({ ...k, count: 1, from: turned ? 1 : 0, to: turned ? 0 : 1 });
  const seam: Seam = { sides: [side(a, false), side(b, true)] };
  const [p, q] = [panelOf(pattern, a.panel), panelOf(pattern, b.panel)];
  if (a.panel !== b.panel && p.placement && q.placement) {
    const gap = (turned: boolean) => [0, 1].reduce((sum, t) => {
      const u = inSpace(p, sidePoint(p, side(a, false), t));
      const v = inSpace(q, sidePoint(q, side(b, turned), t));
      return sum + Math.hypot(u[0] - v[0], u[1] - v[1], u[2] - v[2]);
    }, 0);
    if (gap(false) < gap(true)) seam.sides[1] = side(b, false);
  }
  pattern.seams.push(seam);
  return '';
}

export function turnSeam(seam: Seam) {
  const side = seam.sides[1];
  [side.from, side.to] = [side.to, side.from];
}

/** A dart with its mouth around the point of edge `e` nearest to `mouth`. */
export function addDart(panel: Panel, e: number, mouth: Point, apex: Point, width = 0.025): string {
  const length = edgeLength(panel, e);
  if (length < 2 * width) return 'This edge is too short for a dart.';
  let [best, at] = [Infinity, 0.5];
  for (let i = 0; i <= 200; i++) {
    const away = distance(mouth, edgePoint(panel, e, i / 200));
    if (away < best) (best = away), (at = i / 200);
  }
  const half = width / 2 / length;
  at = Math.min(1 - 1.5 * half, Math.max(1.5 * half, at));
  panel.darts.push({ edge: e, from: at - half, to: at + half, apex });
  return '';
}

export function addLine(panel: Panel, points: Point[], kind: Line['kind']) {
  const closed = kind === 'hole' && points.length > 2;
  const rest = closed ? [...points.slice(1), points[0]] : points.slice(1);
  panel.lines.push({ kind, start: points[0], pieces: kind === 'drill' ? [] : rest.map((to) => ({ to })) });
}
