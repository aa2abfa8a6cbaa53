// From panels to a scene: bodies to dress, places around them, and the scene file that sews and drapes.

import type { Shape } from '../messages';
import { box } from './model';
import type { Panel, Pattern } from './model';

export const FILE = '/editor/garment.json';
export const SEWN = '/editor/garment.obj';
const RIM = 100; // label of its nodes in the sewn file
export const SCENE = '/editor/scene.json';
export const BODIES = '/editor/bodies.json';

type Body = { title: string; folder: string; text: unknown };
const woman = (more: object) => ({ name: 'body', character: { file: '/scenes/walk/body.glb', mittens: true, flesh: true, ...more }, friction: 0.5 });
const floor = { name: 'floor', plane: { point: [0, 0, 0], normal: [0, 1, 0] } };

export const bodies: Record<string, Body> = {
  woman: { title: 'Woman', folder: 'walk', text: [woman({ clip: 'rest' }), floor] },
  walker: { title: 'Woman who walks', folder: 'walk', text: [woman({ clip: 'walk', start: 2, lead_in: 1 }), floor] },
  dancer: { title: 'Woman who dances', folder: 'walk', text: [woman({ clip: 'dance_pirouette', start: 2, lead_in: 1.5 }), floor] },
  ball: { title: 'Ball', folder: '', text: [{ name: 'body', sphere: { center: [0, 0.6, 0], radius: 0.25 } }, floor] },
  own: { title: 'Your own (drop it)', folder: '', text: null },
};

const enc = new TextEncoder();
let ownBody = '';
/** A dropped body takes the place of ours. */
export function setOwnBody(path: string) {
  ownBody = path;
}

function obstacles(pattern: Pattern): unknown {
  if (pattern.body === 'own' && ownBody) return [{ name: 'body', character: { file: ownBody, mittens: true, flesh: true }, friction: 0.5 }, floor];
  return (bodies[pattern.body] ?? bodies.woman).text ?? bodies.woman.text;
}

/** A scene that shows the body; its cloth is never seen. */
export function bodyScene(pattern: Pattern): Uint8Array {
  return enc.encode(JSON.stringify({ cloths: [{ mesh: { rectangle: { size: [0.1, 0.1], edge: 0.1 } } }], obstacles: obstacles(pattern) }));
}

/** The scene in which the garment that was sewn hangs on the body; `tie` holds each node of its rim to the skin [N/m], 0: nothing does. */
export function dressScene(pattern: Pattern, tie: number): Uint8Array {
  return enc.encode(JSON.stringify({
    name: pattern.name,
    cloths: [{ name: 'garment', mesh: SEWN, rest: 'uv', material: pattern.fabric, thickness: 0.001, friction: 0.5, friction_self: 0.3 }],
    handles: pattern.hold && tie > 0 ? [{ cloth: 'garment', label: RIM, body: 'body', stiffness: tie, slack: 0.01 }] : undefined,
    obstacles: obstacles(pattern),
    collisions: { on_intersection: 'pinch' },
    start: { relax: 'off' },
    camera: { azimuth: 25, elevation: 8 },
    appearance: { body: { color: '#cdb09b' } },
  }, null, 1));
}

// --- places around the body ------------------------------------------------------------------------------

export type Section = { height: number; x: number; z: number; wide: number; deep: number }; // centre and half axes [m]

/** Height of a body, from the ground up. */
export function heightOf(shapes: Shape[]): number {
  let high = 0;
  for (const s of shapes) if (!s.plane) for (let i = 1; i < s.corners.length; i += 9) high = Math.max(high, s.corners[i]);
  return high || 1.6;
}

/** What a body is like at a height, arms left aside. */
export function sectionAt(shapes: Shape[], height: number): Section {
  const whole = heightOf(shapes);
  let [left, right, back, front] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const s of shapes) {
    if (s.plane) continue;
    for (let i = 0; i < s.corners.length; i += 9) {
      const [x, y, z] = [s.corners[i], s.corners[i + 1], s.corners[i + 2]];
      if (Math.abs(y - height) > 0.03 * whole || Math.abs(x) > 0.13 * whole) continue;
      left = Math.min(left, x), (right = Math.max(right, x)), (back = Math.min(back, z)), (front = Math.max(front, z));
    }
  }
  if (!(right > left)) return { height, x: 0, z: 0, wide: 0.15, deep: 0.12 };
  return { height, x: (left + right) / 2, z: (back + front) / 2, wide: (right - left) / 2, deep: (front - back) / 2 };
}

export const spots = {
  '': '–',
  'waist front': 'Front, from the waist down', 'waist back': 'Back, from the waist down',
  'chest front': 'Front, from the shoulders', 'chest back': 'Back, from the shoulders',
  'left arm': 'Left arm', 'right arm': 'Right arm',
  above: 'Lying, above everything',
} as const;
export type Spot = keyof typeof spots;

/** Puts a panel at a place around the body, bent about it. */
export function placeAt(panel: Panel, spot: Spot, shapes: Shape[]) {
  const { low, high } = box(panel);
  const width = high[0] - low[0];
  const whole = heightOf(shapes);
  if (spot === 'above') {
    panel.placement = { origin: [-(low[0] + high[0]) / 2, whole + 0.05, (low[1] + high[1]) / 2], rotation: [-90, 0, 0], bend: 0 };
    return;
  }
  if (spot === 'left arm' || spot === 'right arm') {
    const side = spot === 'left arm' ? 1 : -1;
    const radius = Math.max(0.05, width / (2 * Math.PI));
    panel.placement = { origin: [side * 0.17 * whole, 0.68 * whole - (low[1] + high[1]) / 2, radius], rotation: [0, 0, side * 40], bend: 1 / radius };
    return;
  }
  const [part, face] = spot.split(' ');
  const top = (part === 'waist' ? 0.63 : 0.83) * whole;
  const at = sectionAt(shapes, part === 'waist' ? 0.56 * whole : 0.72 * whole);
  // half the way around: sides of front and back meet at the widest line of the panel, and nothing is inside of the body
  const radius = Math.max(width / Math.PI, Math.max(at.wide, at.deep) + 0.01);
  const back = face === 'back';
  panel.placement = {
    origin: [at.x, top - high[1], at.z + (back ? -radius : radius)],
    rotation: [0, back ? 180 : 0, 0],
    bend: Math.round(1e4 / radius) / 1e4,
  };
}
