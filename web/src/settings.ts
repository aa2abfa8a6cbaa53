// Everything that a share link carries, and the link itself.

import type { Colour } from './messages';

export type Settings = {
  scene: string; // of the gallery, or 'pattern'
  fabric: string; // '' is the scene's own
  engine: string;
  remeshing: 'anisotropic' | 'isotropic' | 'none';
  sizeMin: number; // [mm]
  sizeMax: number; // [mm]
  maxFaces: number;
  rate: number; // steps a second
  wind: number; // [m/s]
  windFrom: number; // azimuth [degrees]
  colour: Colour;
  wire: boolean;
  camera?: number[]; // place and target
  pattern?: string; // of the editor, JSON text
};

export const defaults: Settings = {
  scene: 'sphere', fabric: '', engine: 'implicit', remeshing: 'anisotropic', sizeMin: 30, sizeMax: 200, maxFaces: 2000,
  rate: 60, wind: 0, windFrom: 0, colour: 'none', wire: false,
};

async function pass(data: Uint8Array, by: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([data as BlobPart]).stream().pipeThrough(by as unknown as TransformStream<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Settings that differ from the defaults, deflated, as the part of an address after #. */
export async function toLink(settings: Settings): Promise<string> {
  const changed = Object.fromEntries(
    Object.entries(settings).filter(([k, v]) => JSON.stringify(v) !== JSON.stringify((defaults as Record<string, unknown>)[k])));
  const packed = await pass(new TextEncoder().encode(JSON.stringify(changed)), new CompressionStream('deflate-raw'));
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return `s=${btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')}`;
}

/** The settings of a link; what is not there or not of the right kind is as by default. Throws if the link is damaged. */
export async function fromLink(hash: string): Promise<Settings> {
  const settings: Settings = { ...defaults };
  const match = /(?:^#?|&)s=([\w-]+)/.exec(hash);
  if (!match) return settings;
  const bytes = Uint8Array.from(atob(match[1].replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const given = JSON.parse(new TextDecoder().decode(await pass(bytes, new DecompressionStream('deflate-raw'))));
  const known = new Set([...Object.keys(defaults), 'camera', 'pattern']);
  for (const [key, value] of Object.entries(given)) {
    const usual = (defaults as Record<string, unknown>)[key];
    const fits = usual === undefined
      ? (key === 'camera' ? Array.isArray(value) && value.length === 6 && value.every(Number.isFinite) : typeof value === 'string')
      : typeof value === typeof usual && (typeof value !== 'number' || Number.isFinite(value));
    if (known.has(key) && fits) (settings as Record<string, unknown>)[key] = value;
  }
  return settings;
}
