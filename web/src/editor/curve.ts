// Pieces of outlines: lines, arcs by bulge, Bezier curves, as in toile/pattern.h. A piece starts where the last one ended.

export type Point = [number, number]; // [m], y up
export type Piece = { to: Point; bulge?: number; control?: Point[] };

export const add = (a: Point, b: Point): Point => [a[0] + b[0], a[1] + b[1]];
export const sub = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1]];
export const scale = (s: number, a: Point): Point => [s * a[0], s * a[1]];
export const mix = (a: Point, b: Point, t: number): Point => [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
export const distance = (a: Point, b: Point) => Math.hypot(a[0] - b[0], a[1] - b[1]);

export function pointAt(from: Point, piece: Piece, t: number): Point {
  const { to, control, bulge } = piece;
  if (control?.length === 1) return mix(mix(from, control[0], t), mix(control[0], to, t), t);
  if (control?.length === 2) {
    const [a, b, c] = [mix(from, control[0], t), mix(control[0], control[1], t), mix(control[1], to, t)];
    return mix(mix(a, b, t), mix(b, c, t), t);
  }
  if (bulge) {
    const half = 2 * Math.atan(bulge);
    const size = Math.sin(t * half) / Math.sin(half);
    const turn = (t - 1) * half;
    const [re, im, d] = [size * Math.cos(turn), size * Math.sin(turn), sub(to, from)];
    return [from[0] + re * d[0] - im * d[1], from[1] + re * d[1] + im * d[0]];
  }
  return mix(from, to, t);
}

export const isStraight = (piece: Piece) => !piece.bulge && !piece.control?.length;

/** Points along a piece, without its start. */
export function flatten(from: Point, piece: Piece, count = 24): Point[] {
  if (isStraight(piece)) return [piece.to];
  return Array.from({ length: count }, (_, i) => (i === count - 1 ? piece.to : pointAt(from, piece, (i + 1) / count)));
}

const gauss = [[0.1834346424956498, 0.362683783378362], [0.525532409916329, 0.3137066458778873], [0.7966664774136267, 0.2223810344533745], [0.9602898564975363, 0.1012285362903763]];

/** Length of a piece up to t: arcs in closed form, Bezier curves by Gauss's rule on eight parts. */
export function lengthOf(from: Point, piece: Piece, t = 1): number {
  const chord = distance(from, piece.to);
  if (piece.bulge) {
    const half = 2 * Math.atan(piece.bulge);
    return (t * chord * half) / Math.sin(half);
  }
  if (!piece.control?.length) return t * chord;
  const c = [from, ...piece.control, piece.to];
  const speed = (s: number) => {
    const d = c.slice(1).map((p, i) => scale(c.length - 1, sub(p, c[i])));
    const at = d.length === 2 ? mix(d[0], d[1], s) : mix(mix(d[0], d[1], s), mix(d[1], d[2], s), s);
    return Math.hypot(at[0], at[1]);
  };
  let sum = 0;
  const parts = 8;
  for (let i = 0; i < parts; i++) {
    const h = t / (2 * parts);
    const middle = (2 * i + 1) * h;
    for (const [x, w] of gauss) sum += w * h * (speed(middle - h * x) + speed(middle + h * x));
  }
  return sum;
}

/** The piece cut at t. */
export function split(from: Point, piece: Piece, t: number): [Piece, Piece] {
  const at = pointAt(from, piece, t);
  if (piece.control?.length === 1)
    return [{ to: at, control: [mix(from, piece.control[0], t)] }, { to: piece.to, control: [mix(piece.control[0], piece.to, t)] }];
  if (piece.control?.length === 2) {
    const [p, q] = piece.control;
    const [a, b, c] = [mix(from, p, t), mix(p, q, t), mix(q, piece.to, t)];
    return [{ to: at, control: [a, mix(a, b, t)] }, { to: piece.to, control: [mix(b, c, t), c] }];
  }
  if (piece.bulge) {
    const quarter = Math.atan(piece.bulge);
    return [{ to: at, bulge: Math.tan(t * quarter) }, { to: piece.to, bulge: Math.tan((1 - t) * quarter) }];
  }
  return [{ to: at }, { to: piece.to }];
}

/** The nearest point of a piece. */
export function nearest(from: Point, piece: Piece, p: Point): { t: number; distance: number } {
  let best = { t: 0, distance: Infinity };
  const count = isStraight(piece) ? 1 : 32;
  for (let i = 0; i < count; i++) {
    const [a, b] = [pointAt(from, piece, i / count), pointAt(from, piece, (i + 1) / count)];
    const d = sub(b, a);
    const s = Math.min(1, Math.max(0, ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1] || 1)));
    const away = distance(p, mix(a, b, s));
    if (away < best.distance) best = { t: (i + s) / count, distance: away };
  }
  return best;
}

/** Pieces in a row, run the other way; the first starts at the old end. */
export function reversed(from: Point, pieces: Piece[]): Piece[] {
  const starts = [from, ...pieces.map((p) => p.to)];
  return pieces.map((p, i): Piece => ({
    to: starts[i],
    ...(p.bulge ? { bulge: -p.bulge } : {}),
    ...(p.control ? { control: [...p.control].reverse() } : {}),
  })).reverse();
}

/** Every point of a piece sent through `move`; `flip`: that mirrors. */
export function moved(piece: Piece, move: (p: Point) => Point, flip = false): Piece {
  return {
    to: move(piece.to),
    ...(piece.bulge ? { bulge: flip ? -piece.bulge : piece.bulge } : {}),
    ...(piece.control ? { control: piece.control.map(move) } : {}),
  };
}
