// Frames of `toile run`: frames/NNNNNN_CLOTH.obj and obstacles/NNNNNN_NAME.obj, read as they are shown.

import type { Shape } from './messages';

const FRAME = /(?:^|\/)(?:(frames|obstacles)\/)?(\d{6})_([\w-]+)\.obj$/;

/** A mesh file as corners. Faces with more than three corners become fans. */
export function readObj(text: string, name: string): Shape {
  const pos: number[] = [];
  const uv: number[] = [];
  const corners: number[] = []; // node, uv
  for (const line of text.split('\n')) {
    if (line.startsWith('v ')) {
      const p = line.split(/\s+/, 4);
      pos.push(+p[1], +p[2], +p[3]);
    } else if (line.startsWith('vt ')) {
      const p = line.split(/\s+/, 3);
      uv.push(+p[1], +p[2]);
    } else if (line.startsWith('f ')) {
      const c = line.trim().split(/\s+/).slice(1).map((k) => {
        const [a, b] = k.split('/');
        const v = +a < 0 ? pos.length / 3 + +a : +a - 1;
        return [v, b ? (+b < 0 ? uv.length / 2 + +b : +b - 1) : -1];
      });
      for (let i = 2; i < c.length; i++) corners.push(...c[0], ...c[i - 1], ...c[i]);
    }
  }
  const faces = corners.length / 6;
  const normal = new Float64Array(pos.length);
  const count = pos.length / 3;
  for (let f = 0; f < faces; f++) {
    const [a, b, c] = [0, 2, 4].map((k) => corners[6 * f + k]);
    if (!(a >= 0 && b >= 0 && c >= 0 && a < count && b < count && c < count)) throw new Error(`${name}: face ${f + 1} names a vertex that is not there`);
    const e = [0, 1, 2].map((k) => pos[3 * b + k] - pos[3 * a + k]);
    const g = [0, 1, 2].map((k) => pos[3 * c + k] - pos[3 * a + k]);
    const n = [e[1] * g[2] - e[2] * g[1], e[2] * g[0] - e[0] * g[2], e[0] * g[1] - e[1] * g[0]];
    for (const v of [a, b, c]) for (let k = 0; k < 3; k++) normal[3 * v + k] += n[k];
  }
  const out = new Float32Array(faces * 27);
  for (let i = 0; i < faces * 3; i++) {
    const v = corners[2 * i];
    const t = corners[2 * i + 1];
    const length = Math.hypot(normal[3 * v], normal[3 * v + 1], normal[3 * v + 2]) || 1;
    for (let k = 0; k < 3; k++) (out[9 * i + k] = pos[3 * v + k]), (out[9 * i + 3 + k] = normal[3 * v + k] / length);
    if (t >= 0) (out[9 * i + 6] = uv[2 * t]), (out[9 * i + 7] = uv[2 * t + 1]);
  }
  return { name, faces, corners: out };
}

export class Recording {
  private constructor(private frames: Map<number, Shape[]>, private bodies: Map<number, Shape[]>, private numbers: number[]) {}

  static is(paths: string[]): boolean {
    return paths.some((p) => /(?:^|\/)frames\/\d{6}_/.test(p)) || paths.filter((p) => FRAME.test(p)).length > 1;
  }

  static async open(files: { path: string; file: File }[]): Promise<Recording> {
    const frames = new Map<number, Shape[]>();
    const bodies = new Map<number, Shape[]>();
    for (const { path, file } of files) {
      const m = FRAME.exec(path);
      if (!m) continue;
      const into = m[1] === 'obstacles' ? bodies : frames;
      const number = Number(m[2]);
      const shape = readObj(await file.text(), m[1] === 'obstacles' ? `obstacle ${m[3]}` : m[3]);
      if (m[1] === 'obstacles' && shape.faces === 2 && Math.abs(shape.corners[0]) > 10) continue; // a plane
      into.set(number, [...(into.get(number) ?? []), shape]);
    }
    if (frames.size === 0) throw new Error('no frames in it (frames/NNNNNN_CLOTH.obj)');
    return new Recording(frames, bodies, [...frames.keys()].sort((a, b) => a - b));
  }

  get count() {
    return this.numbers.length;
  }

  frame(index: number): { cloths: Shape[]; bodies: Shape[] } {
    const n = this.numbers[index];
    return { cloths: this.frames.get(n) ?? [], bodies: this.bodies.get(n) ?? (index === 0 ? [] : []) };
  }
}
