// The gallery's scenes and the fabrics, bundled from the repository as they are.

import type { File_ } from './messages';

const urls = import.meta.glob(
  ['../../scenes/{sphere,flag,curtain,stack,walk,dancer,shirt-trousers}/*.{json,obj,glb}'],
  { query: '?url', import: 'default', eager: true }) as Record<string, string>;
const fabricTexts = import.meta.glob('../../materials/*.json', { query: '?raw', import: 'default', eager: true }) as Record<string, string>;

export type Exhibit = {
  name: string; title: string; about: string;
  folder: string; // of scenes/
  also?: string; // another one that it needs files of
  sets: string[]; // what makes it run live
  settings?: Partial<{ colour: string; wire: boolean; sizeMin: number; sizeMax: number; maxFaces: number; wind: number; rate: number }>;
};

export const exhibits: Exhibit[] = [
  { name: 'sphere', title: 'Adaptive mesh at work', about: 'A square of cotton falls on a ball. Triangles gather where it folds.', folder: 'sphere', sets: [],
    settings: { wire: true } },
  { name: 'flag', title: 'Flag in the wind', about: 'Nylon in gusts of 6 m/s.', folder: 'flag', sets: ['cloths[0].mesh.rectangle.edge=0.06'], settings: { sizeMin: 40, maxFaces: 1500 } },
  { name: 'curtain', title: 'Curtain to pull at', about: 'Drag the cloth, or push the ball through it.', folder: 'curtain', sets: [] },
  { name: 'stack', title: 'Ten cloths on each other', about: 'Four fabrics, no layer passes through another.', folder: 'stack', sets: [], settings: { sizeMin: 40, maxFaces: 200 } },
  { name: 'dancer', title: 'Dress on a dancer', about: 'Sewn from ten panels; she turns a pirouette.', folder: 'dancer', also: 'walk', sets: [], settings: { sizeMin: 40, sizeMax: 120, maxFaces: 2500 } },
  { name: 'try-on', title: 'Trying on, with tension', about: 'Shirt and trousers; red is where cloth is pulled.', folder: 'shirt-trousers', also: 'walk', sets: [],
    settings: { colour: 'tension', sizeMin: 40, sizeMax: 120, maxFaces: 1800 } },
];

const bytes = (text: string) => new TextEncoder().encode(text);

export const fabrics: { name: string; use: string; color: string }[] = Object.entries(fabricTexts).map(([path, text]) => ({
  name: path.replace(/.*\/(.*)\.json$/, '$1'),
  use: /"use": *"([^"]*)"/.exec(text)?.[1] ?? '',
  color: /"color": *"([^"]*)"/.exec(text)?.[1] ?? '#5f86b8',
}));

export function fabricFiles(): File_[] {
  return Object.entries(fabricTexts).map(([path, text]) => ({ path: `/data/materials/${path.replace(/.*\//, '')}`, data: bytes(text) }));
}

async function fetched(url: string): Promise<Uint8Array> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** The files of a scene's folder, under /scenes/NAME. */
export async function sceneFiles(folder: string): Promise<File_[]> {
  const inside = Object.entries(urls).filter(([path]) => path.includes(`/scenes/${folder}/`));
  return Promise.all(inside.map(async ([path, url]) => ({ path: `/scenes/${folder}/${path.replace(/.*\//, '')}`, data: await fetched(url) })));
}
