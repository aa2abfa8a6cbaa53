// Patterns in and out: files are read by the simulator's own readers, so that every format and every message is that of the program.

import type { File_ } from '../messages';
import type { Host } from './host';
import { addPanel, addSeam, duplicate, rename } from './edits';
import { empty, fromFile, toFile } from './model';
import type { Pattern } from './model';

const enc = new TextEncoder();
const dec = new TextDecoder();

/** Reads a dropped or chosen file; throws with the reader's message. */
export async function readPattern(host: Host, path: string, files: File_[]): Promise<{ pattern: Pattern; notes: string }> {
  host.tell({ type: 'files', files });
  const answer = await host.convert(path, '/editor/opened.json');
  if (!answer.ok) throw new Error(answer.message.replace(/\/(dropped|editor)\//g, ''));
  const pattern = fromFile(dec.decode(answer.data));
  if (pattern.name === 'pattern' || !pattern.name) pattern.name = path.replace(/.*\/|\.\w+$/g, '');
  return { pattern, notes: answer.message.trim() };
}

export const formats = {
  json: { title: 'Toile pattern (.json)', ending: '.json', type: 'application/json' },
  garmentcode: { title: 'GarmentCode (.json)', ending: '_specification.json', type: 'application/json' },
  svg: { title: 'Drawing (.svg)', ending: '.svg', type: 'image/svg+xml' },
  dxf: { title: 'DXF-AAMA (.dxf)', ending: '.dxf', type: 'image/vnd.dxf' },
};
export type Format = keyof typeof formats;

/** Offers the pattern as a download; gives back what has no place in that format. */
export async function savePattern(host: Host, pattern: Pattern, format: Format): Promise<string> {
  const { ending, type } = formats[format];
  let leftOut = '';
  const text = enc.encode(toFile(pattern));
  let data: Uint8Array = text;
  host.tell({ type: 'files', files: [{ path: '/editor/saved.json', data: text }] });
  if (format !== 'json') {
    const answer = await host.convert('/editor/saved.json', `/editor/saved${ending}`);
    if (!answer.ok) throw new Error(answer.message.replace('/editor/saved.json: ', ''));
    data = answer.data;
    leftOut = answer.leftOut;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([data as BlobPart], { type }));
  link.download = `${pattern.name || 'pattern'}${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return leftOut;
}

/** A skirt of two panels to begin with. */
export function skirt(): Pattern {
  const pattern = { ...empty(), name: 'skirt' };
  addPanel(pattern, [[0, 0], [0.62, 0], [0.5, 0.5], [0.12, 0.5]], 'front');
  const back = duplicate(pattern, 'front').name;
  rename(pattern, back, 'back');
  addSeam(pattern, { panel: 'front', edge: 1 }, { panel: 'back', edge: 3 });
  addSeam(pattern, { panel: 'front', edge: 3 }, { panel: 'back', edge: 1 });
  return pattern;
}
