// What the editor needs of the page around it.

import type { FromWorker, ToWorker } from '../messages';
import type { View } from '../view';

export type Arranged = Extract<FromWorker, { type: 'arranged' }>;
export type Converted = Extract<FromWorker, { type: 'converted' }>;

export type Sewn = Extract<FromWorker, { type: 'sewn' }>;

export type Host = {
  view: View;
  tell(message: ToWorker): void;
  say(text: string, bad?: boolean): void;
  /** Reads a file of the simulator's file system and writes it in another format. */
  convert(from: string, to: string): Promise<Converted>;
  arrange(scene: string | null, pattern: string, edge: number): Promise<Arranged>;
  /** Sews a pattern around the bodies that were arranged last; `watch` hears of every step. */
  sew(pattern: string, material: string, edge: number, watch: (now: Sewn) => void): Promise<Sewn>;
  /** Loads a scene of the simulator's file system and plays it, with a mesh that stays if it is tied; resolves to what was wrong, '' if nothing. */
  drape(path: string, tied: boolean): Promise<string>;
  /** Puts the files of a scene of the gallery onto the simulator's file system. */
  sceneFiles(folder: string): Promise<void>;
  fabrics: { name: string; use: string; color: string }[];
};
